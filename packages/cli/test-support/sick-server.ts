import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isObject, parseJson } from "../src/json.ts";

/** A server with whatever is wrong with it. */
export async function startSick(
  listener: RequestListener,
  asked = 0,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(asked, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://localhost:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Where cards are. */
export const cardPath = "/.well-known/agent-card.json";

/** Answers at some paths; everything else is a plain 404. */
export function at(
  paths: Readonly<Record<string, (response: ServerResponse, request: IncomingMessage) => void>>,
): RequestListener {
  return (request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const answer = paths[path];
    if (answer === undefined) response.writeHead(404, { "content-type": "text/plain" }).end("Not Found");
    else answer(response, request);
  };
}

/** An answer, as JSON unless its headers say otherwise. */
export function send(
  body: string,
  headers: Record<string, string> = {},
  status = 200,
): (response: ServerResponse) => void {
  return (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

/** The least that is a card; without interfaces that answer. */
export const plainCard = {
  name: "Sick",
  description: "An agent that exists to be examined, and is always found wanting.",
  version: "1.0.0",
  supportedInterfaces: [
    { url: "http://localhost:61/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  ],
  capabilities: {},
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [
    {
      id: "a",
      name: "A",
      description: "Something that is described at some length, as it should be.",
      tags: ["t"],
      examples: ["x"],
    },
  ],
};

/** The same with changes, as text. */
export const card = (changes: object = {}): string => JSON.stringify({ ...plainCard, ...changes });

/** What a JSON-RPC server is asked. */
export interface RpcCall {
  readonly id: string;
  readonly method: string;
  readonly params: unknown;
  readonly request: IncomingMessage;
}

/** A server of JSON-RPC alone; `answer` gives the members beside `jsonrpc` and `id`, or takes the response over. */
export function jsonRpcAgent(
  changes: object,
  answer: (call: RpcCall, response: ServerResponse) => object | undefined,
): RequestListener {
  return (request, response) => {
    const { host = "" } = request.headers;
    if (request.url === cardPath) {
      const supportedInterfaces = [
        { url: `http://${host}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ];
      return send(card({ supportedInterfaces, ...changes }))(response);
    }
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      if (request.method !== "POST") return send("", {}, 405)(response);
      const call = parseJson(body);
      if (!isObject(call)) return send("", {}, 400)(response); // the kit sends such
      const { id, method, params } = call as { id: string; method: string; params: unknown }; // JSON-RPC
      const members = answer({ id, method, params, request }, response);
      if (members !== undefined) send(JSON.stringify({ jsonrpc: "2.0", id, ...members }))(response);
    });
  };
}
