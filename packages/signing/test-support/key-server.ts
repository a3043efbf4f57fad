import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How a request is answered. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A server of key sets on this machine. Dispose of it to stop it. */
export interface KeyServer extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly origin: string;
  /** What was asked for so far. */
  readonly requests: readonly IncomingMessage[];
  /** How it answers from now on. */
  answer: Answer;
}

/** Serves on a free port; connections are cut at the end. */
export async function startKeyServer(answer: Answer): Promise<KeyServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    keyServer.answer(response, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server
  const keyServer: KeyServer = {
    origin: `http://127.0.0.1:${port}`,
    requests,
    answer,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return keyServer;
}

/** Answers with a text or, as JSON, with an object. */
export function sending(
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): Answer {
  return (response) => {
    response.writeHead(status, { "content-type": "application/jwk-set+json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}
