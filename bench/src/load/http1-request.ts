import type { Connection } from "./connection.ts";
import { Http1Connection } from "./http1-connection.ts";

/** The protocol version that every request names. */
export const protocolVersion = "1.0";

/** A whole HTTP/1.1 request. */
export function encodeHttp1Request(
  verb: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Buffer {
  const fields = {
    host: "127.0.0.1",
    "a2a-version": protocolVersion,
    ...headers,
    ...(verb === "GET" ? {} : { "content-length": String(body.length) }),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${verb} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), body]);
}

/** So many connections of their own. */
export function openHttp1(port: number, count: number): Promise<readonly Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Http1Connection.open(port)));
}
