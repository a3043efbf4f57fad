import { once } from "node:events";
import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import type { TLSSocket } from "node:tls";

/** One finished HTTP/2 exchange as its caller saw it. */
export interface Http2Answer {
  readonly headers: IncomingHttpHeaders & { readonly ":status"?: number };
  readonly body: string;
  readonly trailers: IncomingHttpHeaders;
}

/**
 * A connection with prior knowledge (h2c), or TLS when the URL says https. Dispose of it to cut it.
 *
 * @param tls whom it trusts, or the connection itself
 */
export function openHttp2(url: string, tls?: string | TLSSocket): ClientHttp2Session & Disposable {
  const options =
    typeof tls === "object" ? { createConnection: () => tls } : tls === undefined ? {} : { ca: tls };
  const session = connect(url, options);
  session.on("error", () => undefined);
  return Object.assign(session, { [Symbol.dispose]: () => session.destroy() });
}

/** Send one request and read the whole response. */
export async function callHttp2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: Uint8Array,
): Promise<Http2Answer> {
  const stream = session.request(headers, { endStream: body === undefined });
  let trailers: IncomingHttpHeaders = {};
  stream.on("trailers", (fields) => {
    trailers = fields;
  });
  const response = once(stream, "response");
  const closed = once(stream, "close");
  if (body !== undefined) stream.end(body);
  const [fields] = await response;
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += chunk;
  await closed;
  return { headers: fields, body: text, trailers };
}
