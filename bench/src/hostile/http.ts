import { once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request as startRequest } from "node:http";
import { protocolVersion } from "../load/http1-request.ts";

/** What is looked at of an answer. */
export interface Answer {
  readonly status: number | undefined;
  /** The first bytes of the body. */
  readonly head: Buffer;
}

/** One HTTP/1.1 request; a body makes it a POST. Resolves when the answer has been read to its end. */
export async function exchange(
  port: number,
  path: string,
  body?: Buffer,
  fields: OutgoingHttpHeaders = {},
): Promise<Answer> {
  const headers = { "a2a-version": protocolVersion, "content-type": "application/json", ...fields };
  const method = body === undefined ? "GET" : "POST";
  const request = startRequest({ host: "127.0.0.1", port, path, method, headers, agent: false });
  request.end(body);
  // A server may answer before it has all of the body, and close the connection.
  request.on("error", () => {});
  const [response] = (await once(request, "response")) as [IncomingMessage]; // what http emits
  let head: Buffer | undefined;
  for await (const chunk of response) {
    head ??= chunk as Buffer; // no encoding is set
  }
  return { status: response.statusCode, head: head ?? Buffer.alloc(0) };
}
