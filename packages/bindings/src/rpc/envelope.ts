import type { DescMessage, Message } from "@bufbuild/protobuf";
import { type Compression, compressedFlag, encodeEnvelope } from "@connectrpc/connect/protocol";
import type { Codec } from "./codec.ts";

/** What precedes a message in an envelope: a byte of flags, four with its length. The same in all three protocols. */
export const prefixBytes = 5;

const events: Readonly<Record<Codec["name"], WeakMap<Message, Uint8Array>>> = {
  proto: new WeakMap(),
  json: new WeakMap(),
};

/**
 * An event in its envelope, encoded once for as long as the event is reachable: gRPC, gRPC-Web and Connect send the very
 * same bytes to all their readers. For messages that no longer change.
 */
export function envelopOnce(codec: Codec, desc: DescMessage, event: Message): Uint8Array {
  const known = events[codec.name].get(event);
  if (known !== undefined) {
    return known;
  }
  const envelope = encodeEnvelope(0, codec.encodeEvent(desc, event));
  events[codec.name].set(event, envelope);
  return envelope;
}

const compressed = new WeakMap<Uint8Array, Map<string, Promise<Uint8Array>>>();

/** The same message compressed, which is done once for all its readers, too. */
export function compressOnce(envelope: Uint8Array, compression: Compression): Promise<Uint8Array> {
  let codings = compressed.get(envelope);
  if (codings === undefined) {
    codings = new Map();
    compressed.set(envelope, codings);
  }
  let result = codings.get(compression.name);
  if (result === undefined) {
    result = compressEnvelope(envelope, compression);
    codings.set(compression.name, result);
  }
  return result;
}

/** An envelope with its message compressed. */
export async function compressEnvelope(envelope: Uint8Array, compression: Compression): Promise<Uint8Array> {
  return encodeEnvelope(compressedFlag, await compression.compress(envelope.subarray(prefixBytes)));
}
