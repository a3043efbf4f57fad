import { createHttpJsonTransport, createJsonRpcTransport } from "@a2a-connect/bindings/client";
import { userMessage } from "@a2a-connect/core";
import { setServiceParameters } from "@a2a-connect/core/internal";
import { type ServeAgentsOptions, type ServedAgents, serve } from "@a2a-connect/node";
import { A2AService, type Message } from "@a2a-connect/proto";
import { type AgentDefinition, createMemoryTaskStore } from "@a2a-connect/server";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";

export type A2AClient = Client<typeof A2AService>;

/** Two agents that give their tasks the same ids, so that an id alone tells nobody whose task it is. */
export const names = ["alpha", "beta"] as const;
export type Name = (typeof names)[number];

/**
 * An agent that says its name. It asks when it is sent "ask", and keeps a task WORKING that is sent "wait" until it is
 * canceled.
 */
export function namedAgent(name: string): AgentDefinition {
  return {
    card: {
      name,
      description: `Says "${name}".`,
      version: "1.2.3",
      skills: [{ id: "say", name: "Say", description: "Says its name.", tags: ["echo", name] }],
    },
    async *execute(turn) {
      if (turn.text === "ask") return yield turn.inputRequired(`${name} asks`);
      if (turn.text === "wait") {
        yield turn.working(`${name} waits`);
        await new Promise((resolve) => turn.signal.addEventListener("abort", resolve, { once: true }));
        return;
      }
      yield turn.artifact({ name: "name", text: name });
    },
  };
}

/** Serves both on a free port, in memory, with the same ids. */
export function serveBoth(options: ServeAgentsOptions<Name> = {}): Promise<ServedAgents<Name>> {
  return serve(
    {
      alpha: { agent: namedAgent("alpha"), store: createMemoryTaskStore(), randomId: countedIds() },
      beta: { agent: namedAgent("beta"), store: createMemoryTaskStore(), randomId: countedIds() },
    },
    options,
  );
}

function countedIds(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `id-${count}`;
  };
}

/** A way to reach one of several agents. */
export interface Way {
  readonly title: string;
  open(baseUrl: string, name: string): Transport;
  /** What its requests carry as `tenant`. */
  tenant(name: string): string;
}

const versioned: Interceptor = (next) => (request) => {
  setServiceParameters(request.header);
  return next(request);
};
const interceptors = [versioned];

const byPrefix: readonly Pick<Way, "title" | "open">[] = [
  { title: "JSON-RPC", open: (url, name) => createJsonRpcTransport({ url: `${url}/agents/${name}/rpc` }) },
  {
    title: "HTTP+JSON",
    open: (url, name) => createHttpJsonTransport({ baseUrl: `${url}/agents/${name}/rest` }),
  },
];

const byTenant: readonly Pick<Way, "title" | "open">[] = [
  { title: "gRPC", open: (baseUrl) => createGrpcTransport({ baseUrl, interceptors }) },
  {
    title: "gRPC-Web",
    open: (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1", interceptors }),
  },
  {
    title: "Connect",
    open: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", interceptors }),
  },
  {
    title: "Connect in JSON",
    open: (baseUrl) =>
      createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false, interceptors }),
  },
  { title: "JSON-RPC", open: (url) => createJsonRpcTransport({ url: `${url}/rpc` }) },
  { title: "HTTP+JSON", open: (url) => createHttpJsonTransport({ baseUrl: `${url}/rest` }) },
];

/** Every wire by path prefix or by tenant, as far as it knows them. */
export const ways: readonly Way[] = [
  ...byPrefix.map((way) => ({ ...way, title: `${way.title} by prefix`, tenant: () => "" })),
  ...byTenant.map((way) => ({ ...way, title: `${way.title} by tenant`, tenant: (name: string) => name })),
];

/** Those whose requests say whom they are for. */
export const tenantWays: readonly Way[] = ways.slice(byPrefix.length);

/** A client of one agent, and the tenant that it has to name. */
export function reach(way: Way, baseUrl: string, name: string): { client: A2AClient; tenant: string } {
  return { client: createClient(A2AService, way.open(baseUrl, name)), tenant: way.tenant(name) };
}

let sent = 0;

/** A message of a user, with an id of its own. */
export function say(text: string, details: { taskId?: string } = {}): Message {
  sent += 1;
  return userMessage(text, { messageId: `message-${sent}`, ...details });
}
