/** One length-prefixed message of gRPC, gRPC-Web or a Connect stream. */
export interface Frame {
  readonly flags: number;
  readonly message: Uint8Array;
}

/** A frame as it goes over the wire; `declaredLength` may lie. */
export function frame(message: Uint8Array, flags = 0, declaredLength = message.byteLength): Uint8Array {
  const bytes = Buffer.alloc(5 + message.byteLength);
  bytes.writeUInt8(flags, 0);
  bytes.writeUInt32BE(declaredLength, 1);
  bytes.set(message, 5);
  return bytes;
}

/** The frames of a body. @throws Error when its last one is not whole */
export function readFrames(body: Uint8Array): Frame[] {
  const bytes = Buffer.from(body);
  const frames: Frame[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) throw new Error("a frame is cut short");
    frames.push({ flags: bytes.readUInt8(at), message: bytes.subarray(at + 5, end) });
    at = end;
  }
  return frames;
}
