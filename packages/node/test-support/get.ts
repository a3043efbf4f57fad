import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:http2";
import { buffer } from "node:stream/consumers";

/** The HTTP versions of one port. */
export const httpVersions = ["HTTP/1.1", "h2"] as const;

/** How a request is sent. */
export interface GetOptions {
  readonly version?: (typeof httpVersions)[number];
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response as it came: nothing is decompressed. */
export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends one request without a body on a connection of its own, and nothing that was not asked for. */
export async function get(url: string, options: GetOptions = {}): Promise<Got> {
  const { version = "HTTP/1.1", method = "GET", headers = {} } = options;
  return version === "h2" ? getHttp2(url, method, headers) : getHttp1(url, method, headers);
}

async function getHttp1(url: string, method: string, headers: GetOptions["headers"]): Promise<Got> {
  const sent = request(url, { method, agent: false, headers: { ...headers } }).end();
  const [response] = await once(sent, "response");
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

async function getHttp2(url: string, method: string, headers: GetOptions["headers"]): Promise<Got> {
  const { origin, pathname, search } = new URL(url);
  const session = connect(origin);
  const { host, ...fields } = { ...headers };
  const pseudo = { ":method": method, ":path": pathname + search };
  const authority = host === undefined ? {} : { ":authority": host };
  const stream = session.request({ ...fields, ...authority, ...pseudo }, { endStream: true });
  const [{ ":status": status, ...received }] = await once(stream, "response");
  const body = await buffer(stream);
  session.close();
  return { status, headers: received, body };
}
