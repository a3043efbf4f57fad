import { A2AService } from "@a2a-connect/proto";
import { type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag, encodeEnvelope } from "@connectrpc/connect/protocol";
import {
  endStreamFlag,
  endStreamFromJson,
  errorFromJsonBytes,
  trailerDemux,
} from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { trailerFlag, trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import type { HttpHandler, HttpResponse } from "../src/http.ts";
import { memoryRequest } from "./memory-http.ts";

/** gRPC, gRPC-Web and Connect as their bytes, for what Connect's own clients do not show. */
export const rpcWires = ["grpc", "grpc-web", "connect"] as const;
export type RpcWire = (typeof rpcWires)[number];

/** A call of an operation. */
export interface RawCall {
  readonly wire: RpcWire;
  /** Local name. */
  readonly method: keyof typeof A2AService.method;
  readonly request: Message;
  readonly header?: Record<string, string>;
  readonly signal?: AbortSignal;
  /** Turns the message into what is sent as a compressed one. */
  readonly compress?: (message: Uint8Array) => Promise<Uint8Array>;
}

/** Send a call; the body of the response is still to be read. */
export async function sendRaw(
  handlers: ReadonlyMap<string, HttpHandler>,
  call: RawCall,
): Promise<HttpResponse> {
  const method = A2AService.method[call.method];
  const handler = handlers.get(`/${A2AService.typeName}/${method.name}`);
  if (handler === undefined) {
    throw new Error(`nothing serves ${method.name}`);
  }
  const plain = toBinary<DescMessage>(method.input, call.request);
  const message = (await call.compress?.(plain)) ?? plain;
  const flags = call.compress === undefined ? 0 : compressedFlag;
  return handler(
    memoryRequest({
      header: { "content-type": contentType(call), ...call.header },
      body: [isBare(call) ? message : encodeEnvelope(flags, message)],
      ...(call.signal && { signal: call.signal }),
    }),
  );
}

/** Connect sends the message of a unary call without an envelope. */
export function isBare({ wire, method }: Pick<RawCall, "wire" | "method">): boolean {
  return wire === "connect" && A2AService.method[method].methodKind === "unary";
}

function contentType(call: RawCall): string {
  return `application/${isBare(call) ? "" : `${call.wire}+`}proto`;
}

/** The header that gives a call so many milliseconds. */
export function timeoutHeader(wire: RpcWire, milliseconds: string): Record<string, string> {
  return wire === "connect" ? { "connect-timeout-ms": milliseconds } : { "grpc-timeout": `${milliseconds}m` };
}

/** The names of the headers about compression, the same in requests and in responses. */
export function codingHeaders(call: Pick<RawCall, "wire" | "method">): { encoding: string; accept: string } {
  if (call.wire !== "connect") {
    return { encoding: "grpc-encoding", accept: "grpc-accept-encoding" };
  }
  return isBare(call)
    ? { encoding: "content-encoding", accept: "accept-encoding" }
    : { encoding: "connect-content-encoding", accept: "connect-accept-encoding" };
}

/** The chunks of a streamed body, to be pulled one by one. */
export function chunksOf({ body }: HttpResponse): AsyncIterator<Uint8Array> {
  if (typeof body !== "object" || body instanceof Uint8Array) {
    throw new Error("the body is no stream");
  }
  return body[Symbol.asyncIterator]();
}

/** A response that has been read to its end. */
export interface RawAnswer {
  /** The messages as they were sent. */
  readonly messages: readonly Uint8Array[];
  readonly flags: readonly number[];
  readonly error: ConnectError | undefined;
  readonly trailer: Headers;
}

/** Read a whole response. */
export async function readRaw(
  call: Pick<RawCall, "wire" | "method">,
  response: HttpResponse,
): Promise<RawAnswer> {
  const bytes = await collect(response.body);
  if (isBare(call)) {
    return readBare(response, bytes);
  }
  const envelopes = splitEnvelopes(bytes);
  const last = envelopes.at(-1);
  const isEnd = ((last?.flags ?? 0) & (trailerFlag | endStreamFlag)) !== 0;
  const messages = isEnd ? envelopes.slice(0, -1) : envelopes;
  return {
    messages: messages.map(({ message }) => message),
    flags: messages.map(({ flags }) => flags),
    ...readEnd(call.wire, response, isEnd ? last?.message : undefined),
  };
}

function readBare({ status, header }: HttpResponse, bytes: Uint8Array): RawAnswer {
  const [metadata, trailer] = trailerDemux(header ?? new Headers());
  const fallback = new ConnectError("no error of Connect", Code.Unknown);
  return status === 200
    ? { messages: [bytes], flags: [0], error: undefined, trailer }
    : { messages: [], flags: [], error: errorFromJsonBytes(bytes, metadata, fallback), trailer };
}

function readEnd(
  wire: RpcWire,
  { trailer }: HttpResponse,
  last: Uint8Array | undefined,
): Pick<RawAnswer, "error" | "trailer"> {
  if (wire === "connect") {
    const end = endStreamFromJson(last ?? "");
    return { error: end.error, trailer: end.metadata };
  }
  const fields = wire === "grpc" ? (trailer ?? new Headers()) : trailerParse(last ?? new Uint8Array());
  if (!fields.has("grpc-status")) {
    throw new Error("there is no status");
  }
  return { error: findTrailerError(fields), trailer: fields };
}

function splitEnvelopes(bytes: Uint8Array): { flags: number; message: Uint8Array }[] {
  const envelopes: { flags: number; message: Uint8Array }[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; ) {
    const end = at + 5 + view.getUint32(at + 1);
    envelopes.push({ flags: view.getUint8(at), message: bytes.slice(at + 5, end) });
    at = end;
  }
  return envelopes;
}

async function collect(body: HttpResponse["body"]): Promise<Uint8Array> {
  if (typeof body === "string") {
    return new TextEncoder().encode(body);
  }
  if (body === undefined || body instanceof Uint8Array) {
    return body ?? new Uint8Array();
  }
  const chunks = await Array.fromAsync(body);
  return Uint8Array.from(chunks.flatMap((chunk) => [...chunk]));
}
