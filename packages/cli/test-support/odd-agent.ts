import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/**
 * An agent that is not ours: it has one task, which goes through states, one a GetTask, and a list whose pages have no end. It
 * speaks JSON-RPC.
 */
export interface OddAgent extends AsyncDisposable {
  readonly url: string;
  /** Names of the methods that were called. */
  readonly calls: readonly string[];
}

/**
 * Starts it. After the last of `states` its task `t` is COMPLETED.
 *
 * @param streaming what its card says. Streams themselves are cut off without a word
 */
export async function startOddAgent(states: readonly string[], streaming: boolean): Promise<OddAgent> {
  const calls: string[] = [];
  let asked = 0;
  const server = createServer(async (request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.method === "GET") {
      response.end(JSON.stringify(cardOf(`http://${request.headers.host}`, streaming)));
      return;
    }
    const { id, method } = (await json(request)) as { id: unknown; method: string }; // JSON-RPC
    calls.push(method);
    if (method === "ListTasks") {
      const tasks = [{ id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } }];
      const result = { tasks, nextPageToken: "again", pageSize: 1, totalSize: 1 };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      return;
    }
    if (method !== "GetTask") {
      response.destroy();
      return;
    }
    const state = states[asked] ?? "TASK_STATE_COMPLETED";
    asked += 1;
    response.end(
      JSON.stringify({ jsonrpc: "2.0", id, result: { id: "t", contextId: "c", status: { state } } }),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function cardOf(url: string, streaming: boolean) {
  return {
    name: "odd",
    description: "Has one task.",
    version: "1.0.0",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "odd", name: "Odd", description: "Odd.", tags: [] }],
  };
}
