import { crc32, deflateSync } from "node:zlib";

const size = 64;

/** A PNG of 64 by 64 pixels: a disc with a gradient. */
export function samplePng(): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, size);
  view.setUint32(4, size);
  header.set([8, 2], 8); // 8 bits a channel, RGB
  const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
  const chunks = [
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(pixels())),
    chunk("IEND", new Uint8Array()),
  ];
  return concat([signature, ...chunks]);
}

/** A CSV file of five rows, with quotes and an umlaut in it. */
export function sampleCsv(): Uint8Array {
  return new TextEncoder().encode(
    'city,country,"inhabitants, in millions"\nLima,Peru,10.1\nKöln,Germany,1.1\nOslo,Norway,0.7\nPune,India,7.2\n',
  );
}

/** Rows of RGB, each behind its filter byte 0. */
function pixels(): Uint8Array {
  const rows = new Uint8Array(size * (1 + size * 3));
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const inside = Math.hypot(x - size / 2, y - size / 2) < size / 2;
      const colour = inside ? [x * 4, 96, y * 4] : [255, 255, 255];
      rows.set(colour, y * (1 + size * 3) + 1 + x * 3);
    }
  }
  return rows;
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const body = concat([new TextEncoder().encode(type), content]);
  const framed = new Uint8Array(body.length + 8);
  const view = new DataView(framed.buffer);
  view.setUint32(0, content.length);
  framed.set(body, 4);
  view.setUint32(4 + body.length, crc32(body));
  return framed;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
