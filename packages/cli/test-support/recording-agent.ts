import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that an agent got. */
export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/**
 * An agent over JSON-RPC that answers every message with a Message, and keeps what it was sent. Told to `refuse`, it
 * repeats the caller's Authorization in an error.
 */
export interface RecordingAgent extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Those that were no look at the card. */
  readonly calls: readonly RecordedRequest[];
}

/** Starts one whose card has these members besides. */
export async function startRecordingAgent(
  card: Readonly<Record<string, unknown>> = {},
): Promise<RecordingAgent> {
  const requests: RecordedRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const { method = "", url = "", headers } = request;
    requests.push({ method, url, headers, body });
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify(
        url.startsWith("/.well-known/") ? describe(card, origin) : answer(body, headers.authorization),
      ),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // a TCP server has one
  const origin = `http://127.0.0.1:${port}`;
  return {
    url: origin,
    requests,
    get calls() {
      return requests.filter(({ url }) => url.startsWith("/rpc"));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function describe(card: Readonly<Record<string, unknown>>, origin: string): Record<string, unknown> {
  return {
    name: "recorder",
    description: "Keeps what it is sent.",
    version: "1.0.0",
    supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: {},
    defaultInputModes: ["*/*"],
    defaultOutputModes: ["*/*"],
    skills: [{ id: "main", name: "Main", description: "Everything.", tags: ["test"] }],
    ...card,
  };
}

function answer(body: string, authorization: string | undefined): Record<string, unknown> {
  // Our own client wrote it, or doctor, which sends what is none as well.
  const { id, method } = JSON.parse(/^\{.*\}$/s.test(body) ? body : "{}") as {
    id?: unknown;
    method?: string;
  };
  if (body.includes("refuse")) {
    return { jsonrpc: "2.0", id, error: { code: -32602, message: `${authorization} is refused` } };
  }
  const message = { messageId: "answer-1", role: "ROLE_AGENT", parts: [{ text: "noted" }] };
  return {
    jsonrpc: "2.0",
    id,
    result: method === "GetExtendedAgentCard" ? describe({}, "http://127.0.0.1:1") : { message },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer); // no encoding was set
  }
  return Buffer.concat(chunks).toString();
}
