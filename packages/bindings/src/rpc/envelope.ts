import { bodyTooLarge, isLarge, KeptTexts } from "@a2a-connect/core/internal";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { type Compression, compressedFlag, encodeEnvelope } from "@connectrpc/connect/protocol";
import { collectBytes, malformedRequest, type Sender, type UnpackLimits, unpackBody } from "../body.ts";
import { compressInTurn } from "../compress-in-turn.ts";
import type { HttpBody } from "../http.ts";
import { gzip, slowEventBytes, streamedCoding } from "../large-answer.ts";
import { nextSlice } from "../next-slice.ts";
import type { Codec } from "./protocol.ts";
import { announcedBytes, prefixBytes } from "./split-envelopes.ts";

const events: Readonly<Record<Codec["name"], KeptTexts<Uint8Array>>> = {
  proto: new KeptTexts(),
  json: new KeptTexts(),
};

/**
 * An event in its envelope, which is kept for a while (`KeptTexts`). gRPC, gRPC-Web and Connect send the
 * same bytes to all their readers. Use it for messages that no longer change. A large event is encoded anew each time,
 * in pieces; one that is not small in a slice of its reader.
 */
export function envelopOnce(
  codec: Codec,
  desc: DescMessage,
  event: Message,
  caller: string | undefined,
): Uint8Array | Promise<Uint8Array | readonly Uint8Array[]> {
  const known = events[codec.name].get(event);
  if (known !== undefined) {
    return known;
  }
  return isLarge(event, slowEventBytes)
    ? nextSlice(caller).then<Uint8Array | readonly Uint8Array[]>(() => envelop(codec, desc, event, caller))
    : envelop(codec, desc, event, caller);
}

function envelop(
  codec: Codec,
  desc: DescMessage,
  event: Message,
  caller: string | undefined,
): Uint8Array | Promise<readonly Uint8Array[]> {
  const known = events[codec.name].get(event); // by another reader meanwhile
  if (known !== undefined) {
    return known;
  }
  const encoded = codec.encodeEvent(desc, event, caller);
  if (!(encoded instanceof Uint8Array)) {
    return encoded;
  }
  const envelope = encodeEnvelope(0, encoded);
  events[codec.name].set(event, envelope);
  return envelope;
}

const compressed = new WeakMap<Uint8Array, Map<string, Promise<Uint8Array>>>();

/** The same message compressed, also once for all its readers. @param caller the first of them */
export function compressOnce(
  envelope: Uint8Array,
  compression: Compression,
  caller: string | undefined,
): Promise<Uint8Array> {
  let codings = compressed.get(envelope);
  if (codings === undefined) {
    codings = new Map();
    compressed.set(envelope, codings);
  }
  let result = codings.get(compression.name);
  if (result === undefined) {
    const { name } = compression;
    const known = codings;
    result = compressEnvelope(envelope, compression, caller).then((made) => {
      if (made === envelope) known.delete(name); // there was no room, which may be otherwise for the next reader
      return made;
    });
    codings.set(name, result);
  }
  return result;
}

/**
 * A large message in its envelope, in pieces. It is compressed if its coding can be made piece by piece, and otherwise
 * sent uncompressed: the flag in the envelope says which.
 */
export async function envelopPieces(
  message: readonly Uint8Array[],
  compression: Compression | null,
): Promise<readonly Uint8Array[]> {
  if (compression?.name !== streamedCoding) {
    return [prefixOf(0, message), ...message];
  }
  const compressed: Uint8Array[] = [];
  for await (const piece of gzip(message)) {
    compressed.push(piece);
  }
  return [prefixOf(compressedFlag, compressed), ...compressed];
}

function prefixOf(flags: number, message: readonly Uint8Array[]): Uint8Array {
  const prefix = new Uint8Array(prefixBytes);
  prefix[0] = flags;
  new DataView(prefix.buffer).setUint32(
    1,
    message.reduce((sum, { length }) => sum + length, 0),
  );
  return prefix;
}

/**
 * An envelope with its message compressed, or the same one where it is to stay as it is (`compressInTurn`).
 *
 * @param signal aborts when the caller has gone
 */
export async function compressEnvelope(
  envelope: Uint8Array,
  compression: Compression,
  caller: string | undefined,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const message = await compressInTurn(compression, envelope.subarray(prefixBytes), caller, signal);
  return message === undefined ? envelope : encodeEnvelope(compressedFlag, message);
}

/**
 * Reads the one message in the body of a call: takes it out of its envelope and decompresses it. A large message then
 * waits for its slice (see `unpackBody`).
 *
 * @param caller its signal ends the wait of a large message
 * @param compression how a compressed message is compressed, by the request's headers
 * @throws ConnectError `BODY_TOO_LARGE`; InvalidArgument when the body is not one whole message; the error of a broken
 *   connection
 */
export async function readEnvelope(
  body: HttpBody,
  caller: Sender,
  compression: Compression | null,
  limits: UnpackLimits,
): Promise<Uint8Array> {
  const bytes = await collectBytes(body, limits.maxBodyBytes + prefixBytes);
  if (bytes === undefined) {
    throw bodyTooLarge(limits.maxBodyBytes);
  }
  const message = bytes.subarray(prefixBytes);
  if (bytes.byteLength < prefixBytes || announcedBytes(bytes) !== message.byteLength) {
    throw malformedRequest("is not one complete message");
  }
  const flags = checkFlags(bytes);
  if (flags !== 0 && compression === null) {
    throw malformedRequest("is compressed, but its header does not say how");
  }
  const coding = flags === 0 ? undefined : (compression ?? undefined);
  const unpacked = unpackBody(body, caller, message, coding, limits);
  return unpacked instanceof Promise ? await unpacked : unpacked;
}

/** The flags of an envelope. @throws ConnectError InvalidArgument when a request has no such flags */
export function checkFlags([flags = 0]: Uint8Array): number {
  if ((flags & ~compressedFlag) !== 0) {
    throw malformedRequest("has flags that are not known");
  }
  return flags;
}
