import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server on this machine that answers as a test says. Dispose of it to stop it. */
export interface HttpServer extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** What was asked for so far. */
  readonly requests: readonly IncomingMessage[];
}

/** Serves on a free port, or the one that is given; connections are cut at the end. */
export async function startHttpServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { port: wanted = 0, host = "127.0.0.1" } = {},
): Promise<HttpServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.on("error", () => {}); // clients may leave early
    answer(request, response);
  });
  server.listen(wanted, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server
  return {
    url: `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}`,
    port,
    requests,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Answers with JSON, an object or text as it stands. */
export function sendJson(
  response: ServerResponse,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** The address of a port of this machine without a listener. */
export async function closedAddress(): Promise<string> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}
