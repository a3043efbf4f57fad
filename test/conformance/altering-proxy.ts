import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Where cards are. */
export const cardPath = "/.well-known/agent-card.json";

/** A request on its way, to be changed in place. */
export interface PassingRequest {
  readonly method: string;
  /** With its query. */
  path: string;
  readonly headers: Headers;
  /** As for an answer. */
  body: string;
}

/** An answer on its way, to be changed in place. */
export interface PassingAnswer {
  readonly path: string;
  /** What it answers, as the server got it. */
  readonly request: PassingRequest;
  status: number;
  readonly headers: Headers;
  /** Text of JSON and of events; of all else each character is a byte. */
  body: string;
  /** Set to keep the answer open after its body. */
  staysOpen?: boolean;
}

/** An answer in the server's place. */
export interface OwnAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** How a proxy treats its server. */
export interface ProxyOptions {
  /** Changes every request, or answers it in the server's place. */
  readonly ask?: (request: PassingRequest) => OwnAnswer | undefined;
  /** Changes every answer. */
  readonly alter?: (answer: PassingAnswer) => void;
  /** Answers in the server's place, or never, when it returns true. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Host and port of a proxy for gRPC, which the card then names. Default: the card names no gRPC. */
  readonly grpcAddress?: string;
}

/** An agent's wires over HTTP/1.1 behind a proxy that breaks something. Streams pass only when they have ended. */
export async function startAlteringProxy(
  origin: string,
  { ask, alter, answer, grpcAddress }: ProxyOptions,
): Promise<AsyncDisposable & { readonly url: string }> {
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (answer?.(incoming, response) === true) return;
    const request = await readRequest(incoming);
    const own = ask?.(request);
    if (own !== undefined) {
      response.writeHead(own.status, { "content-type": own.type }).end(own.body);
      return;
    }
    const passing = await pass(origin, request);
    if (request.path === cardPath && passing.status === 200) {
      passing.body = rewriteCard(passing.body, origin, { url, grpcAddress });
    }
    alter?.(passing);
    response.writeHead(passing.status, Object.fromEntries(passing.headers));
    response.write(passing.body, encodingOf(passing.headers));
    if (passing.staysOpen !== true) response.end();
  };
  const server = createServer((incoming, response) => {
    // The server behind it may close while it holds a call.
    handle(incoming, response).catch(() => response.destroy());
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

async function readRequest(incoming: IncomingMessage): Promise<PassingRequest> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (
      typeof value === "string" &&
      !/^(connection|host|content-length|transfer-encoding|expect|te)$/.test(name)
    ) {
      headers.set(name, value);
    }
  }
  return {
    method: incoming.method ?? "GET",
    path: incoming.url ?? "/",
    headers,
    body: Buffer.concat(await Array.fromAsync<Buffer>(incoming)).toString(encodingOf(headers)),
  };
}

async function pass(origin: string, request: PassingRequest): Promise<PassingAnswer> {
  const { method, path, headers, body } = request;
  const received = await fetch(origin + path, {
    method,
    headers,
    ...(body === "" ? {} : { body: Buffer.from(body, encodingOf(headers)) }),
  });
  const passing: PassingAnswer = {
    path,
    request,
    status: received.status,
    headers: new Headers(received.headers),
    body: Buffer.from(await received.arrayBuffer()).toString(encodingOf(received.headers)),
  };
  for (const name of ["content-length", "content-encoding", "connection", "transfer-encoding"]) {
    passing.headers.delete(name);
  }
  return passing;
}

/** Latin-1 keeps every byte. */
function encodingOf(headers: Headers): "utf8" | "latin1" {
  return /json|event-stream|^text\//.test(headers.get("content-type") ?? "") ? "utf8" : "latin1";
}

/** The card with only what the proxy passes on. */
function rewriteCard(
  text: string,
  origin: string,
  { url, grpcAddress }: { readonly url: string; readonly grpcAddress: string | undefined },
): string {
  const card = JSON.parse(text);
  card.supportedInterfaces = card.supportedInterfaces.flatMap(
    (each: { readonly protocolBinding: string; readonly url: string }) => {
      if (each.protocolBinding !== "GRPC") return [{ ...each, url: each.url.replace(origin, url) }];
      return grpcAddress === undefined ? [] : [{ ...each, url: grpcAddress }];
    },
  );
  return JSON.stringify(card);
}
