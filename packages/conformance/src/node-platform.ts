import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { readAtMost } from "@a2a-connect/core/internal";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { showCode } from "./calls.ts";
import { type Exchange, maxAnswerBytes } from "./exchange.ts";
import { type GrpcAnswer, type Platform, type RawGrpcCall, wires } from "./platform.ts";

/** Node, with Connect's own clients: another implementation than the one that is examined. */
export const nodePlatform: Platform = {
  wires,
  connect({ tls }) {
    let session: Http2SessionManager | undefined;
    return {
      open(wire, { maxBytes, ...options }) {
        const common = { ...options, readMaxBytes: maxBytes };
        if (wire === "grpc") {
          session ??= new CalmSessionManager(options.baseUrl, undefined, tls);
          return createGrpcTransport({ ...common, sessionManager: session });
        }
        const open = wire === "grpc-web" ? createGrpcWebTransport : createConnectTransport;
        return open({ ...common, httpVersion: "1.1", nodeOptions: tls });
      },
      [Symbol.dispose]: () => session?.abort(),
    };
  },
  postGrpc,
  async postFields(url, fields, body) {
    const outgoing = httpRequest(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(fields as Record<string, string | string[]>) }, // no numbers
    });
    outgoing.end(body);
    const [response] = (await once(outgoing, "response")) as [IncomingMessage]; // as Node says
    response.resume();
    return response.headers;
  },
};

/** Connect stops listening to a session that has failed. A later error of it, such as that of HTTP/1.1, would end the process. */
class CalmSessionManager extends Http2SessionManager {
  override async request(
    ...call: Parameters<Http2SessionManager["request"]>
  ): ReturnType<Http2SessionManager["request"]> {
    const stream = await super.request(...call);
    if (stream.session?.listenerCount("error", ignore) === 0) stream.session.on("error", ignore);
    return stream;
  }
}

function ignore(): void {}

async function postGrpc({
  address,
  path,
  message,
  fields,
  tls,
  signal,
  record,
}: RawGrpcCall): Promise<GrpcAnswer> {
  const exchange: Exchange = {
    call: `${path} over grpc`,
    request: `${JSON.stringify(fields)}\n(${message.length} bytes)`,
    answer: "",
  };
  record(exchange);
  const session = connect(address, tls);
  const stop = (): void => session.destroy();
  signal?.addEventListener("abort", stop);
  try {
    // A session that cannot connect tells its streams, too.
    session.on("error", () => {});
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...fields,
    });
    // What waits for the stream gets its error. When the call is given up, nothing waits any more.
    stream.on("error", () => {});
    let trailers: IncomingHttpHeaders | undefined;
    stream.on("trailers", (fields) => {
      trailers = fields;
    });
    const response = once(stream, "response", signal === undefined ? {} : { signal: signal });
    stream.end(frame(message));
    const [headers] = await response;
    const body = await readAtMost(stream, maxAnswerBytes);
    if (body === undefined) throw new Error("the server has sent too much to one request");
    const messages = unframe(Buffer.from(body));
    const found = trailers ?? (messages.length === 0 ? headers : {});
    const status = showCode(found["grpc-status"] as string | undefined); // a field that may not be repeated
    exchange.answer = `${status}\n${JSON.stringify(headers)}\n(${messages.length} messages)\n${JSON.stringify(trailers ?? {})}`;
    return { status, headers, messages, trailers: found };
  } finally {
    signal?.removeEventListener("abort", stop);
    session.destroy();
  }
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
