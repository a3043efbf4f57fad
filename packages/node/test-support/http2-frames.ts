import { once } from "node:events";
import { maxReadByParser } from "../src/port/callers/callers.ts";
import { openRawConnection, type RawConnection } from "./raw-connection.ts";

/** A frame of HTTP/2 (RFC 9113 §4.1). */
export interface Http2Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** The types that the tests send or look for. */
export const frameTypes = { headers: 1, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 } as const;

/** A client that says only what a test tells it to, and so answers no PING. */
export async function openSilentHttp2(connection: RawConnection): Promise<void> {
  await connection.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  await connection.write(
    formatFrame({ type: frameTypes.settings, flags: 0, streamId: 0, payload: Buffer.alloc(0) }),
  );
}

/**
 * Opens as many connections as Node's parser reads itself of one caller: it gets what comes over further ones in pieces.
 *
 * @param tls of `openRawConnection`
 */
export async function openReadByParser(
  port: number,
  tls?: Parameters<typeof openRawConnection>[1],
): Promise<Disposable> {
  const opened = new DisposableStack();
  for (let count = 0; count < maxReadByParser; count += 1) {
    const connection = opened.use(await openRawConnection(port, tls));
    await openSilentHttp2(connection);
    while ((await connection.until("")) === "") await once(connection.socket, "data"); // it has begun
  }
  return opened;
}

/** `GET / http localhost`, as HPACK has it in its static table (RFC 7541 appendix A), and these fields. */
export function requestFrame(streamId: number, fields: Readonly<Record<string, string>> = {}): Buffer {
  const request = Buffer.concat([Buffer.of(0x82, 0x84, 0x86, 0x41), literal("localhost")]);
  return lastHeaders(streamId, Buffer.concat([request, literals(fields)]));
}

/** Ends a request with these fields. */
export function trailersFrame(streamId: number, fields: Readonly<Record<string, string>>): Buffer {
  return lastHeaders(streamId, literals(fields));
}

function lastHeaders(streamId: number, payload: Buffer): Buffer {
  return formatFrame({ type: frameTypes.headers, flags: 0x5, streamId, payload }); // END_STREAM, END_HEADERS
}

/** Says that the client opens no more streams; those that it has go on. */
export const goAway = formatFrame({
  type: frameTypes.goAway,
  flags: 0,
  streamId: 0,
  payload: Buffer.alloc(8),
});

/** Lets the server send so many bytes more. @param streamId 0: on the connection */
export function windowUpdate(bytes: number, streamId = 0): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return formatFrame({ type: frameTypes.windowUpdate, flags: 0, streamId, payload });
}

/** A client with an answer of some megabytes on the way to it, which it does not read yet. It answers no PING. */
export async function openSlowReader(connection: RawConnection): Promise<void> {
  connection.socket.pause();
  await openSilentHttp2(connection);
  const windows = [windowUpdate(2 ** 30), windowUpdate(2 ** 30, 1)];
  await connection.write(Buffer.concat([requestFrame(1), ...windows]));
}

function literals(fields: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(fields).flatMap(([name, text]) => [
    Buffer.of(0),
    literal(name),
    literal(text),
  ]);
  return Buffer.concat(parts);
}

/** A text of HPACK, of up to 16,510 characters (RFC 7541 §5.1). */
function literal(text: string): Buffer {
  const more = text.length - 127;
  const length = more < 0 ? [text.length] : [127, 0x80 | (more & 0x7f), more >> 7];
  return Buffer.concat([Buffer.from(length), Buffer.from(text)]);
}

export function formatFrame({ type, flags, streamId, payload }: Http2Frame): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** The whole frames in what a `RawConnection` received, which is a latin1 text. */
export function parseFrames(received: string): Http2Frame[] {
  const bytes = Buffer.from(received, "latin1");
  const frames: Http2Frame[] = [];
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    const [type, flags, streamId] = [
      bytes.readUInt8(at + 3),
      bytes.readUInt8(at + 4),
      bytes.readUInt32BE(at + 5),
    ];
    frames.push({ type, flags, streamId, payload: bytes.subarray(at + 9, end) });
    at = end;
  }
  return frames;
}
