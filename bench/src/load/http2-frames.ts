/** Types of HTTP/2 frames that the load sends or reads (RFC 9113 §6). */
export const frameType = {
  data: 0,
  headers: 1,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
} as const;

/** Flags of frames. ACK and END_STREAM are the same bit. */
export const frameFlag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8 } as const;

/** Length of every frame's header. */
export const frameHeaderBytes = 9;

/** Largest window, of a stream and of the connection. */
export const maxWindow: number = 2 ** 31 - 1;

const initialConnectionWindow = 65_535;

/** A frame for a stream; the stream's number may be written into it later. */
export function encodeFrame(type: number, flags: number, payload: Uint8Array, streamId = 0): Buffer {
  const head = Buffer.alloc(frameHeaderBytes);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** Header fields as HPACK literals that no table remembers (RFC 7541 §6.2.2). */
export function encodeHeaderBlock(fields: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(fields).flatMap(([name, value]) => [
      Buffer.from([0]),
      encodeText(name),
      encodeText(value),
    ]),
  );
}

/** The length has a prefix of 7 bits, and 7 more in each byte that follows (RFC 7541 §5.1). */
function encodeText(text: string): Buffer {
  const length = [Math.min(text.length, 127)];
  if (text.length >= 127) {
    let rest = text.length - 127;
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), Buffer.from(text, "latin1")]);
}

/** WINDOW_UPDATE of the connection. */
export function encodeWindowUpdate(increment: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(increment);
  return encodeFrame(frameType.windowUpdate, 0, payload);
}

/** What a client says first: the preface, its SETTINGS, and a window of the connection that never closes. */
export function encodePreface(): Buffer {
  return Buffer.concat([
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    encodeClientSettings(),
    encodeWindowUpdate(maxWindow - initialConnectionWindow),
  ]);
}

/** Gives the two frames of a request, HEADERS and DATA, the number of their stream. Changes and returns `request`. */
export function numberExchange(request: Buffer, stream: number): Buffer {
  const data = frameHeaderBytes + request.readUIntBE(0, 3);
  request.writeUInt32BE(stream, 5);
  request.writeUInt32BE(stream, data + 5);
  return request;
}

/** The client's SETTINGS: no push, and windows that never close. */
function encodeClientSettings(): Buffer {
  const payload = Buffer.alloc(12);
  payload.writeUInt16BE(2, 0); // ENABLE_PUSH
  payload.writeUInt32BE(0, 2);
  payload.writeUInt16BE(4, 6); // INITIAL_WINDOW_SIZE
  payload.writeUInt32BE(maxWindow, 8);
  return encodeFrame(frameType.settings, 0, payload);
}
