import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { type MethodLocalName, methods } from "@a2a-connect/core";
import { encodeMessage, readAtMost } from "@a2a-connect/core/internal";
import { type A2AService, GetTaskRequestSchema } from "@a2a-connect/proto";
import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { showCode } from "./calls.ts";
import { type Exchange, maxAnswerBytes } from "./exchange.ts";
import type { Target } from "./target.ts";

/** An answer of the gRPC wire as it came. */
export interface GrpcAnswer {
  /** The code that it ends with: `NOT_FOUND (5)`. */
  readonly status: string;
  readonly headers: IncomingHttpHeaders & { readonly ":status"?: number };
  /** The messages, without their frames. */
  readonly messages: readonly Uint8Array[];
  /** What came after the messages, or with the headers where there are no messages; empty when neither has a status. */
  readonly trailers: IncomingHttpHeaders;
}

/** A gRPC call of an operation, as `postGrpc` makes it. */
export function callGrpc<Name extends MethodLocalName>(
  target: Target,
  operation: Name,
  request: MessageInitShape<(typeof A2AService.method)[Name]["input"]>,
  ...more: RestOfCall
): Promise<GrpcAnswer> {
  const { desc, grpcPath } = methods[operation];
  const input: DescMessage = desc.input;
  return postGrpc(target, grpcPath, encodeMessage(input, create(input, request)), ...more);
}

type RestOfCall = [metadata?: Readonly<Record<string, string>>, address?: string];

/**
 * A gRPC call with bytes of our own over HTTP/2 with prior knowledge.
 *
 * @throws Error when the server breaks it off, or sends too much
 */
export async function postGrpc(
  target: Target,
  path: string,
  message: Uint8Array,
  ...[metadata = { "a2a-version": "1.0" }, address = target.address("grpc")]: RestOfCall
): Promise<GrpcAnswer> {
  const exchange: Exchange = {
    call: `${path} over grpc`,
    request: `${JSON.stringify(metadata)}\n(${message.length} bytes)`,
    answer: "",
  };
  target.record(exchange);
  const session = connect(address, target.tls);
  const stop = (): void => session.destroy();
  target.signal?.addEventListener("abort", stop);
  try {
    // A session that cannot connect tells its streams, too.
    session.on("error", () => {});
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...target.headers,
      ...metadata,
    });
    // What waits for the stream gets its error. When the call is given up, nothing waits any more.
    stream.on("error", () => {});
    let trailers: IncomingHttpHeaders | undefined;
    stream.on("trailers", (fields) => {
      trailers = fields;
    });
    const response = once(stream, "response", target.signal === undefined ? {} : { signal: target.signal });
    stream.end(frame(Buffer.concat([message, tenantField(target.tenant("grpc"))])));
    const [headers] = await response;
    const body = await readAtMost(stream, maxAnswerBytes);
    if (body === undefined) throw new Error("the server has sent too much to one request");
    const messages = unframe(Buffer.from(body));
    const found = trailers ?? (messages.length === 0 ? headers : {});
    const status = showCode(found["grpc-status"] as string | undefined); // a field that may not be repeated
    exchange.answer = `${status}\n${JSON.stringify(headers)}\n(${messages.length} messages)\n${JSON.stringify(trailers ?? {})}`;
    return { status, headers, messages, trailers: found };
  } finally {
    target.signal?.removeEventListener("abort", stop);
    session.destroy();
  }
}

/** The field of a request that names its tenant: what is joined to a message of protobuf is part of it. */
function tenantField(tenant: string): Uint8Array {
  return encodeMessage(GetTaskRequestSchema, create(GetTaskRequestSchema, { tenant }));
}

/** A message without compression: one byte of flags, four of length. */
function frame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function unframe(body: Buffer): Uint8Array[] {
  const messages: Uint8Array[] = [];
  for (let at = 0; at < body.length; ) {
    if (body.length - at < 5) throw new Error("the last message of the server has no whole frame");
    const length = body.readUInt32BE(at + 1);
    messages.push(body.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  return messages;
}
