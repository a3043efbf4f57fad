/** A message with the five bytes in front of it that gRPC, gRPC-Web and Connect streams use. */
export function encodeEnvelope(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** The first message of a body of envelopes. @throws Error when there is none */
export function firstEnvelope(body: Buffer): Buffer {
  if (!startsWithMessage(body)) {
    throw new Error(`no message in the answer: ${body.toString("latin1")}`);
  }
  return body.subarray(5, 5 + body.readUInt32BE(1));
}

/** Whether the body begins with a message that is neither compressed nor the end of the stream. */
export function startsWithMessage(body: Buffer): boolean {
  return body.length >= 5 && body[0] === 0;
}
