import { bodyTooLarge, invalidParams, parseMessage } from "@a2a-connect/core";
import { type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { compressedFlag } from "@connectrpc/connect/protocol";
import { type BodyRefusal, collectBytes, decompressBody, readBody } from "../body.ts";
import type { HttpRequest } from "../http.ts";
import { parseJsonBytes } from "../json/read-json.ts";
import type { BindingSettings } from "../options.ts";

/** How one of Connect's three protocols carries the request message of a call with a single one. */
export interface RequestFraming {
  /** Whether the message is in an envelope; otherwise it is the whole body. */
  readonly enveloped: boolean;
  /** ProtoJSON instead of binary. */
  readonly json: boolean;
  /** Header that names the coding of an enveloped message. */
  readonly codingHeader: string;
}

/** The framing that a content type means, or undefined when it is none of gRPC, gRPC-Web and Connect. */
export function findFraming(contentType: string | null): RequestFraming | undefined {
  const match = /^application\/(grpc(?:-web)?(?:\+|$)|connect\+)?(proto|json)?\s*(?:;.*)?$/i.exec(
    contentType ?? "",
  );
  if (match === null || (match[1] === undefined && match[2] === undefined)) {
    return undefined;
  }
  const prefix = match[1]?.toLowerCase();
  return {
    enveloped: prefix !== undefined,
    json: match[2]?.toLowerCase() === "json",
    codingHeader: prefix === "connect+" ? "connect-content-encoding" : "grpc-encoding",
  };
}

/**
 * Read the one request message of a call.
 *
 * @throws ConnectError `BODY_TOO_LARGE`; InvalidArgument for what is not one message of this type, by the JSON rules of
 *   all wires when it is JSON
 */
export async function decodeRequest(
  desc: DescMessage,
  request: HttpRequest,
  framing: RequestFraming,
  settings: BindingSettings,
): Promise<Message> {
  const bytes = framing.enveloped
    ? await readEnveloped(request, framing, settings)
    : unlessRefused(await readBody(request, settings));
  if (framing.json) {
    const { json } = unlessRefused(parseJsonBytes(bytes));
    return parseMessage(desc, json, { maxDepth: settings.maxJsonDepth });
  }
  try {
    return fromBinary(desc, bytes, {
      readUnknownFields: false,
      recursionLimit: binaryDepth(settings.maxJsonDepth),
    });
  } catch {
    throw malformed(`is not a valid ${desc.name} in protobuf encoding`);
  }
}

/** A level of JSON in a Struct is up to three nested messages: Value, Struct and the entry of its map. */
function binaryDepth(maxJsonDepth: number): number {
  return 3 * maxJsonDepth;
}

const prefixLength = 5;

async function readEnveloped(
  { header, body }: HttpRequest,
  { codingHeader }: RequestFraming,
  { maxBodyBytes, compressions }: BindingSettings,
): Promise<Uint8Array> {
  const bytes = await collectBytes(body, maxBodyBytes + prefixLength);
  if (bytes === undefined) {
    throw bodyTooLarge(maxBodyBytes);
  }
  const message = bytes.subarray(prefixLength);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < prefixLength || view.getUint32(1) !== message.byteLength) {
    throw malformed("is not one complete message");
  }
  const flags = view.getUint8(0);
  if ((flags & ~compressedFlag) !== 0) {
    throw malformed("has flags that are not known");
  }
  if (flags === 0) {
    return message;
  }
  const compression = compressions.find(({ name }) => name === header.get(codingHeader));
  if (compression === undefined) {
    throw malformed("is compressed, but its header does not say how");
  }
  return unlessRefused(await decompressBody(compression, message, maxBodyBytes));
}

function unlessRefused<T extends object>(result: T | BodyRefusal): T {
  if ("error" in result) {
    throw result.error;
  }
  return result;
}

function malformed(problem: string): ConnectError {
  return invalidParams({ field: "", description: `the request ${problem}` });
}
