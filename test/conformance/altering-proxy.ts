import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Where cards are. */
export const cardPath = "/.well-known/agent-card.json";

/** An answer on its way, to be changed in place. */
export interface PassingAnswer {
  readonly path: string;
  status: number;
  readonly headers: Headers;
  body: string;
}

/** How a proxy treats its server. */
export interface ProxyOptions {
  /** Changes every answer. */
  readonly alter?: (answer: PassingAnswer) => void;
  /** Answers in the server's place, or never, when it returns true. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** An agent's JSON wires behind a proxy that breaks something. Streams pass only when they have ended. */
export async function startAlteringProxy(
  origin: string,
  { alter, answer }: ProxyOptions,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(async (request, response) => {
    const path = request.url ?? "/";
    if (answer?.(request, response) === true) return;
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (typeof value === "string" && !/^(connection|host|content-length|expect)$/.test(name)) {
        headers.set(name, value);
      }
    }
    const sent = Buffer.concat(await Array.fromAsync<Buffer>(request));
    const method = request.method ?? "GET";
    const received = await fetch(origin + path, {
      method,
      headers,
      ...(sent.length === 0 ? {} : { body: sent }),
    });
    const passing: PassingAnswer = {
      path,
      status: received.status,
      headers: new Headers(received.headers),
      body: await received.text(),
    };
    for (const name of ["content-length", "content-encoding", "connection", "transfer-encoding"]) {
      passing.headers.delete(name);
    }
    if (path === cardPath && passing.status === 200) {
      passing.body = rewriteCard(passing.body, origin, url);
    }
    alter?.(passing);
    response.writeHead(passing.status, Object.fromEntries(passing.headers)).end(passing.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://localhost:${(server.address() as AddressInfo).port}`; // it listens on a port
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The card with only what the proxy passes on. */
function rewriteCard(text: string, origin: string, url: string): string {
  const card = JSON.parse(text);
  card.supportedInterfaces = card.supportedInterfaces
    .filter(({ protocolBinding }: { readonly protocolBinding: string }) =>
      ["JSONRPC", "HTTP+JSON"].includes(protocolBinding),
    )
    .map((each: { readonly url: string }) => ({ ...each, url: each.url.replace(origin, url) }));
  return JSON.stringify(card);
}
