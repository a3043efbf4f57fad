import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { principalKey } from "@a2a-connect/core";
import { type ServedAgent, serve } from "@a2a-connect/node";
import { A2AService } from "@a2a-connect/proto";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { type A2AClient, type StoreKind, say } from "@a2a-connect/testing";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { onTestFinished } from "vitest";
import { wires } from "../interop/wires.ts";
import { type CountingAgent, createCountingAgent } from "./counting-agent.ts";

/** The wires that repeats come over. */
export const wireNames: readonly string[] = Object.keys(wires);

/** The counting agent on a port of its own. */
export interface IdempotentServer {
  readonly counting: CountingAgent;
  /** Base URL, without a trailing slash. It changes with a restart. */
  readonly url: string;
  /** A client of the server as it is now. */
  client(wire: string): A2AClient;
  /** Stops the server, with a store that keeps its tasks, and starts another one on them. */
  restart(): Promise<void>;
}

/** Starts a server that ends with the running test. */
export async function startServer(store: StoreKind): Promise<IdempotentServer> {
  const counting = createCountingAgent();
  const directory = mkdtempSync(join(tmpdir(), "a2a-idempotency-"));
  const start = () =>
    serve(counting.agent, {
      ...(store === "memory"
        ? { store: createMemoryTaskStore() }
        : { file: join(directory, "tasks.sqlite") }),
      wires: { interceptors: [readCaller] },
    });
  const stop = (server: ServedAgent) => server.close({ graceMs: 0, timeoutMs: 1_000 });
  let server = await start();
  onTestFinished(async () => {
    await stop(server);
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    counting,
    get url() {
      return server.url;
    },
    client: (wire) => createClient(A2AService, (wires[wire] ?? noSuchWire(wire))(server.url)),
    async restart() {
      await stop(server);
      server = await start();
    },
  };
}

/** The options of a call with this key; of a named caller when one is given. */
export function keyed(
  key: string,
  { caller, lastEventId }: { readonly caller?: string; readonly lastEventId?: number } = {},
): { headers: Record<string, string> } {
  return {
    headers: {
      "idempotency-key": key,
      ...(caller === undefined ? {} : { "x-test-caller": caller }),
      ...(lastEventId === undefined ? {} : { "last-event-id": String(lastEventId) }),
    },
  };
}

/** A request whose maps have their keys in an order that no encoder would choose. */
export function request(text: string, details: Parameters<typeof say>[1] = {}): ReturnType<typeof say> {
  const metadata = { zebra: { b: [1.5, { y: null, x: "ü" }], a: -2 }, "10": true, "9": 1e21, apple: "" };
  return say(text, { metadata, messageId: `id of ${text}`, ...details });
}

/** Stands in for authentication: whoever says who they are is believed. */
const readCaller: Interceptor = (next) => (call) => {
  const id = call.header.get("x-test-caller");
  if (id !== null) call.contextValues.set(principalKey, { id, anonymous: false });
  return next(call);
};

function noSuchWire(wire: string): never {
  throw new Error(`there is no wire ${wire}`);
}
