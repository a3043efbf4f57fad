import { once } from "node:events";
import { type IncomingMessage, request as requestHttp1 } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";

/** One HTTP request exactly as it goes out: nothing is added to the fields but what framing needs. */
export interface RawRequest {
  readonly http: 1 | 2;
  readonly verb: string;
  /** Path and query, as they are. */
  readonly target: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Whether more of the body is said to follow, which never does. HTTP/2 only. */
  readonly endless?: boolean;
}

/** The whole answer to it; HTTP/1.1 trailers are not looked at. */
export interface RawAnswer {
  readonly status: number;
  readonly fields: Headers;
  readonly body: Uint8Array;
  readonly trailers: Headers;
}

/** The ways to call one server; ends its HTTP/2 connection when it is disposed of. */
export interface RawCaller extends Disposable {
  call(request: RawRequest): Promise<RawAnswer>;
}

/** A caller for the server at `baseUrl`: a connection for each HTTP/1.1 request, and one for all of HTTP/2. */
export function createRawCaller(baseUrl: string): RawCaller {
  let session: ClientHttp2Session | undefined;
  const openSession = () => {
    if (session === undefined || session.closed || session.destroyed) {
      session = connect(baseUrl);
      session.on("error", () => undefined); // the request that was on it reports
    }
    return session;
  };
  return {
    call: (request) => (request.http === 1 ? callHttp1(baseUrl, request) : callHttp2(openSession(), request)),
    [Symbol.dispose]: () => session?.destroy(),
  };
}

async function callHttp1(baseUrl: string, { verb, target, fields, body }: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  const length = body === undefined ? {} : { "content-length": String(body.byteLength) };
  const request = requestHttp1({
    hostname,
    port,
    agent: false,
    method: verb,
    path: target,
    headers: { ...fields, ...length },
  });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  let response: IncomingMessage | undefined;
  request.on("response", (message) => {
    response = message;
    resolve(message);
  });
  // A server may answer and close before it has read everything; only a missing answer is a failure.
  request.on("error", (error) => response ?? reject(error));
  request.end(body);
  const message = await promise;
  const bytes = await collect(message);
  request.destroy();
  return {
    status: message.statusCode ?? 0,
    fields: toHeaders(message.headers),
    body: bytes,
    trailers: new Headers(),
  };
}

async function callHttp2(
  session: ClientHttp2Session,
  { verb, target, fields, body, endless = false }: RawRequest,
): Promise<RawAnswer> {
  const stream = session.request(
    { ":method": verb, ":path": target, ...fields },
    { endStream: body === undefined },
  );
  const trailers = new Headers();
  stream.on("trailers", (received) => {
    for (const [name, value] of toHeaders(received)) trailers.append(name, value);
  });
  const response = once(stream, "response");
  if (body !== undefined) {
    stream.write(body);
    if (!endless) stream.end();
  }
  const [received] = await response;
  const bytes = await collect(stream);
  return { status: Number(received[":status"]), fields: toHeaders(received), body: bytes, trailers };
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function toHeaders(fields: Readonly<Record<string, unknown>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    if (!name.startsWith(":") && value !== undefined) headers.append(name, String(value));
  }
  return headers;
}
