// Several agents with interceptors for all and of their own: what guards all of them guards each, on every way.
import { type ServedAgents, serve } from "@a2a-connect/node";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Name, namedAgent, names, reach, say, tenantWays, ways } from "./hosted-agents.ts";

const seen: string[] = [];
const note =
  (name: string): Interceptor =>
  (next) =>
  (request) => {
    seen.push(name);
    return next(request);
  };
const gate: Interceptor = (next) => (request) => {
  seen.push("gate");
  if (request.header.get("x-key") !== "open") {
    throw new ConnectError("who are you?", Code.Unauthenticated);
  }
  return next(request);
};
let guarded: ServedAgents<Name>;
beforeAll(async () => {
  const store = createMemoryTaskStore;
  guarded = await serve(
    {
      alpha: { agent: namedAgent("alpha"), store: store(), wires: { interceptors: [note("alpha's own")] } },
      beta: { agent: namedAgent("beta"), store: store() },
    },
    { wires: { interceptors: [gate, note("for all")] }, default: "alpha" },
  );
});
afterAll(() => guarded.close({ graceMs: 0 }));

it.each(ways)(
  "interceptors for all are outermost around every agent's calls over $title, and its own within",
  async (way) => {
    for (const name of names) {
      const { client, tenant } = reach(way, guarded.url, name);
      const own = name === "alpha" ? ["alpha's own"] : [];
      const headers = { "x-key": "open" };
      seen.length = 0;
      await client.listTasks({ tenant }, { headers });
      expect([name, seen]).toEqual([name, ["gate", "for all", ...own]]);
      seen.length = 0;
      await drain(client.sendStreamingMessage({ tenant, message: say("go") }, { headers }));
      expect([name, seen]).toEqual([name, ["gate", "for all", ...own]]);
      for (const call of [
        client.listTasks({ tenant }),
        drain(client.sendStreamingMessage({ tenant, message: say("go") })),
      ]) {
        await expect(call).rejects.toMatchObject({ code: Code.Unauthenticated });
      }
    }
  },
);

it.each(tenantWays)(
  "interceptors for all are around the default agent's calls over $title, too",
  async (way) => {
    const { client } = reach(way, guarded.url, "alpha");
    await expect(client.listTasks({})).rejects.toMatchObject({ code: Code.Unauthenticated });
  },
);

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
