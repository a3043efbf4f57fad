import { apiKey, hashApiKey } from "@a2a-connect/auth";
import type { HttpResponse } from "@a2a-connect/bindings";
import { A2AService } from "@a2a-connect/proto";
import { createFakeClock, say, taskOf } from "@a2a-connect/testing";
import {
  Code,
  ConnectError,
  createClient,
  createRouterTransport,
  type Interceptor,
} from "@connectrpc/connect";
import { describe, expect, it, vi } from "vitest";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { LogRecord } from "../engine/engine-context.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";
import type { TaskStore } from "../store/task-store.ts";
import { type AgentHost, createAgentHost } from "./agent-host.ts";

const agent: AgentDefinition = { card: { name: "Agent" }, execute: () => [] };

/** A store that says when it is closed. */
function watchedStore(): { store: TaskStore; closed: () => number } {
  const memory = createMemoryTaskStore();
  let closed = 0;
  const store = new Proxy(memory, {
    get(target, name) {
      if (name === "close") {
        return async () => {
          closed += 1;
          await target.close();
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { store, closed: () => closed };
}

function clientOf(host: AgentHost) {
  const calls = Object.entries(host.service.methods).map(([name, { impl }]) => [name, impl]);
  const transport = createRouterTransport(({ service }) => service(A2AService, Object.fromEntries(calls)));
  return createClient(A2AService, transport);
}

describe("createAgentHost", () => {
  for (const [what, options, sentence] of [
    ["no agent", { agents: {} }, "no agent to serve"],
    ["a name that fits no path", { agents: { "a/b": { agent } } }, "does not fit"],
    ["a reserved name", { agents: { tasks: { agent } } }, "cannot be called"],
    ["a default that is none of them", { agents: { a: { agent } }, default: "b" }, "none of the agents"],
    ["a public URL that is none", { agents: { a: { agent } }, publicUrl: "ftp://x.example" }, "public URL"],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(() => createAgentHost<string>(options)).toThrow(sentence);
    });
  }

  it("refuses one store for two agents, whose tasks would be each other's (P-4)", () => {
    const store = createMemoryTaskStore();
    const agents = { a: { agent, store }, b: { agent, store } };
    expect(() => createAgentHost({ agents })).toThrow('"b" has the store of another');
  });

  it("starts the rest with the next call when one could not start", async () => {
    const agents = {
      good: { agent, store: createMemoryTaskStore() },
      busy: { agent, store: createMemoryTaskStore() },
    };
    const { unfinished } = agents.busy.store;
    const host = createAgentHost({ agents });
    agents.busy.store.unfinished = () => Promise.reject(new Error("the disk is busy"));
    await expect(host.start()).rejects.toThrow("the disk is busy");
    agents.busy.store.unfinished = unfinished;
    await host.start();
    await host.close();
  });

  it("touches no task when one of its agents cannot sign its card", async () => {
    const signing = { keys: [{ key: "no key" }] };
    const host = createAgentHost({ agents: { good: { agent }, unsigned: { agent, signing } } });
    using started = vi.spyOn(host.agents.good, "start");
    await expect(host.start()).rejects.toThrow(/^the agent "unsigned" cannot start: .*key/);
    expect(started).not.toHaveBeenCalled();
    await host.close();
  });

  it("closes every agent, also when one of them cannot be closed", async () => {
    const stores = [watchedStore(), watchedStore()] as const;
    const stubborn = createMemoryTaskStore();
    stubborn.close = () => Promise.reject(new Error("it is stuck"));
    const host = createAgentHost({
      agents: {
        first: { agent, store: stores[0].store },
        stuck: { agent, store: stubborn },
        last: { agent, store: stores[1].store },
      },
    });
    await host.start();
    await expect(host.close()).rejects.toThrow("it is stuck");
    expect(stores.map(({ closed }) => closed())).toEqual([1, 1]);
  });

  it("is ready until one of its agents is drained", async () => {
    const host = createAgentHost({ agents: { a: { agent }, b: { agent } } });
    const { a, b } = host.agents;
    expect([a.ready, b.ready]).toEqual([true, true]);
    expect(await statusOf(host, "/readyz")).toBe(200);
    b.drain();
    expect(await statusOf(host, "/readyz")).toBe(503);
    expect(await statusOf(host, "/agents/a/readyz")).toBe(200);
    host.drain();
    expect([a.ready, b.ready]).toEqual([false, false]);
  });

  it("puts the interceptors of the agent chosen around a call, which see it without the name", async () => {
    const passed: string[] = [];
    const note =
      (name: string): Interceptor =>
      (next) =>
      (request) => {
        const { tenant } = request.message as { readonly tenant?: string }; // only unary calls come here
        passed.push(`${name} ${request.method.name} for "${tenant}"`);
        return next(request);
      };
    const guard: Interceptor = () => () => {
      throw new ConnectError("who are you?", Code.Unauthenticated);
    };
    const client = clientOf(
      createAgentHost({
        agents: {
          open: { agent, assumeVersion: "1.0" },
          own: { agent, assumeVersion: "1.0", wires: { interceptors: [note("own")] } },
          guarded: { agent, wires: { interceptors: [guard] } },
        },
        wires: { interceptors: [note("shared")] },
      }),
    );
    await client.listTasks({ tenant: "open" });
    await client.listTasks({ tenant: "own" });
    expect(passed).toEqual([
      'shared ListTasks for ""',
      'shared ListTasks for ""', // outermost: what guards all agents guards those with interceptors of their own, too
      'own ListTasks for ""',
    ]);
    const stream = client.subscribeToTask({ tenant: "guarded", id: "1" })[Symbol.asyncIterator]();
    await expect(stream.next()).rejects.toMatchObject({ code: Code.Unauthenticated });
    await expect(client.listTasks({ tenant: "guarded" })).rejects.toMatchObject({
      code: Code.Unauthenticated,
    });
  });

  it("lets an agent's own options of the wires come before those for all, below its path", async () => {
    const host = createAgentHost({
      agents: {
        a: { agent, assumeVersion: "1.0" },
        b: { agent, assumeVersion: "1.0", wires: { maxBodyBytes: 10 } },
      },
      wires: { maxBodyBytes: 1_000 },
    });
    const send = (path: string) => request(host, "POST", path, json, JSON.stringify({ long: "text" }));
    expect([await send("/agents/a/rpc"), await send("/agents/b/rpc")]).toEqual([200, 413]);
    expect(await send("/rpc")).toBe(200);
  });

  it("keeps the query when it sends a caller from an agent's name to its folder", async () => {
    const host = createAgentHost({ agents: { a: { agent } } });
    const locationOf = async (path: string) => {
      const { status, header } = await respond(host, "GET", path, new Headers(), "");
      return [status, header?.get("location")];
    };
    expect(await locationOf("/agents/a")).toEqual([308, "a/"]);
    expect(await locationOf("/agents/a?x=1&y=/?")).toEqual([308, "a/?x=1&y=/?"]);
  });

  it("puts the interceptors for all around health, too, and around a call once", async () => {
    let passed = 0;
    const count: Interceptor = (next) => (request) => {
      passed += 1;
      return next(request);
    };
    const host = createAgentHost({
      agents: { a: { agent, assumeVersion: "1.0" } },
      wires: { interceptors: [count] },
    });
    for (const method of ["grpc.health.v1.Health/Check", "lf.a2a.v1.A2AService/ListTasks"]) {
      passed = 0;
      expect(await callInJson(host, `/${method}`, { tenant: "a" })).toBe(200);
      expect([method, passed]).toEqual([method, 1]);
    }
  });

  it("keeps the tenants of its agents' own callers apart from the agents' names", async () => {
    const seen: string[] = [];
    const isTenant = (tenant: string) => {
      seen.push(tenant);
      return true;
    };
    const client = clientOf(createAgentHost({ agents: { a: { agent, isTenant, assumeVersion: "1.0" } } }));
    await client.listTasks({ tenant: "a" });
    expect(seen).toEqual([""]);
  });

  it("says in the log which agent it is about, unless that has a log of its own", async () => {
    const shared: string[] = [];
    const own: string[] = [];
    const failing: AgentDefinition = {
      card: { name: "Failing" },
      async *execute(turn) {
        yield turn.working();
        throw new Error("it failed");
      },
    };
    const into = (lines: string[]) => (record: LogRecord) => void lines.push(record.message);
    const host = createAgentHost({
      agents: {
        a: { agent: failing, assumeVersion: "1.0" },
        b: { agent: failing, assumeVersion: "1.0", log: into(own) },
      },
      log: into(shared),
    });
    const client = clientOf(host);
    await client.sendMessage({ tenant: "a", ...say("go") });
    await client.sendMessage({ tenant: "b", ...say("go") });
    await host.close();
    expect(shared).toEqual([expect.stringMatching(/^a: /)]);
    expect(own).toEqual([expect.not.stringMatching(/^b: /)]);
  });
});

const json = new Headers({ "content-type": "application/json" });

function statusOf(host: AgentHost, path: string): Promise<number> {
  return request(host, "GET", path, new Headers(), "");
}

/** Calls a method over Connect. */
function callInJson(host: AgentHost, path: string, message: object): Promise<number> {
  return request(host, "POST", path, json, JSON.stringify(message));
}

async function request(...sent: Parameters<typeof respond>): Promise<number> {
  return (await respond(...sent)).status;
}

function respond(
  { handle }: AgentHost,
  method: string,
  path: string,
  header: Headers,
  text: string,
): Promise<HttpResponse> {
  return handle({
    httpVersion: "2.0",
    url: `http://localhost${path}`,
    method,
    header,
    body: {
      async *[Symbol.asyncIterator]() {
        yield new TextEncoder().encode(text);
      },
    },
    signal: new AbortController().signal,
  });
}

describe("agents of one host", () => {
  it("share what callers may have of memory, and those with other limits have their own", async () => {
    const gate = Promise.withResolvers<void>();
    const holder: AgentDefinition = {
      card: { name: "Holder" },
      async *execute(turn) {
        yield turn.working();
        await gate.promise;
      },
    };
    const limits = { maxActiveBytes: 1_000_000, maxShare: 1 };
    const other = { ...limits, maxActiveBytes: 1_000_001 };
    const host = createAgentHost({
      agents: {
        first: { agent: holder, limits, assumeVersion: "1.0" },
        second: { agent: holder, limits, assumeVersion: "1.0" },
        third: { agent: holder, limits: other, assumeVersion: "1.0" },
      },
    });
    await host.start();
    const client = clientOf(host);
    const send = (tenant: string) =>
      client.sendMessage({ ...say("x".repeat(100_000)), tenant, configuration: { returnImmediately: true } });
    const taken: string[] = [];
    const refused = (async () => {
      for (;;) {
        for (const tenant of ["first", "second"]) {
          await send(tenant);
          taken.push(tenant);
        }
      }
    })();
    await expect(refused).rejects.toMatchObject({ code: Code.ResourceExhausted });
    expect(taken.length).toBeGreaterThan(6);
    expect(taken.length).toBeLessThan(11);
    await send("third");
    gate.resolve();
    await expect
      .poll(() =>
        send("second").then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await host.close();
  });

  it("share the places of requests to webhooks, in turns, and those with other limits have their own", async () => {
    const gate = Promise.withResolvers<void>();
    const holder: AgentDefinition = {
      card: { name: "Holder" },
      async *execute(turn) {
        yield turn.working();
        await gate.promise;
      },
    };
    const called: string[] = [];
    const answer: Record<string, () => void> = {};
    const fetch = (url: string, { signal }: RequestInit): Promise<Response> => {
      called.push(url);
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      answer[url] = () => resolve(new Response());
      signal?.addEventListener("abort", reject);
      return promise;
    };
    const options = { agent: holder, limits: { maxShare: 1 }, assumeVersion: "1.0" };
    const host = createAgentHost({
      agents: {
        first: { ...options, push: { fetch, maxConcurrent: 2 } },
        second: { ...options, push: { fetch, maxConcurrent: 2 } },
        third: { ...options, push: { fetch, maxConcurrent: 3 } },
      },
    });
    await host.start();
    const client = clientOf(host);
    const register = (tenant: string, url: string) =>
      client.sendMessage({
        ...say("hold"),
        tenant,
        configuration: { returnImmediately: true, taskPushNotificationConfig: { url } },
      });
    const [a, b, c, d] = [
      "https://a.example/",
      "https://b.example/",
      "https://c.example/",
      "https://d.example/",
    ];
    for (const url of [a, b]) await register("first", url);
    await expect.poll(() => called).toEqual([a, b]);
    await register("second", c);
    await register("third", d);
    await expect.poll(() => called).toEqual([a, b, d]);
    answer[a]?.();
    await expect.poll(() => called).toEqual([a, b, d, a]); // its next event
    answer[a]?.();
    await expect.poll(() => called).toEqual([a, b, d, a, c]);
    gate.resolve();
    await host.close();
  });

  it("have no more failing webhooks in a second than one of them may have", async () => {
    const clock = createFakeClock();
    const called: string[] = [];
    const fetch = async (url: string): Promise<Response> => {
      called.push(url);
      return new Response(null, { status: 401 });
    };
    const options = {
      agent: {
        card: { name: "Writer" },
        execute: (turn) => [turn.artifact({ text: "x" })],
      } satisfies AgentDefinition,
      limits: { maxShare: 1, chunkIntervalMs: 0 },
      assumeVersion: "1.0",
      push: { fetch, maxConcurrent: 4 },
    };
    const host = createAgentHost({ agents: { first: options, second: options }, clock });
    await host.start();
    const client = clientOf(host);
    for (let at = 0; at < 10; at += 1) {
      for (const tenant of ["first", "second"]) {
        const configuration = { taskPushNotificationConfig: { url: `https://${at}.${tenant}.example/` } };
        await client.sendMessage({ ...say("write"), tenant, configuration });
      }
    }
    await clock.settle();
    expect(called).toHaveLength(4);
    for (let second = 1; second <= 5; second += 1) {
      await clock.advance(1_000);
      expect(called.length).toBeLessThanOrEqual(4 * (second + 1));
    }
    expect(new Set(called.map((url) => new URL(url).host.split(".")[1])).size).toBe(2);
    await host.close();
  });

  it("know callers by name within the gates that named them, and agents of the same gates have the same callers", async () => {
    const gate = Promise.withResolvers<void>();
    const holder: AgentDefinition = {
      card: { name: "Holder" },
      async *execute(turn) {
        yield turn.working();
        await gate.promise;
      },
    };
    const gateFor = async (key: string) =>
      apiKey({ header: "x-key", keys: { client: { hash: await hashApiKey(key) } } });
    const gates = { key: await gateFor("a key of the first two agents") };
    const options = {
      agent: holder,
      limits: { maxActiveBytes: 1_000_000, maxShare: 1 / 2 },
      assumeVersion: "1.0",
    };
    const host = createAgentHost({
      agents: {
        first: { ...options, auth: { gates } },
        second: { ...options, auth: { gates, scopes: false } },
        third: { ...options, auth: { gates: { key: await gateFor("a key of the third agent") } } },
      },
    });
    await host.start();
    const client = clientOf(host);
    const send = (tenant: string, key: string) => {
      const message = say("x".repeat(100_000));
      const headers = { "x-key": key };
      return client.sendMessage(
        { ...message, tenant, configuration: { returnImmediately: true } },
        { headers },
      );
    };
    const fill = async () => {
      for (;;) await send("first", "a key of the first two agents");
    };
    const isFull = { code: Code.ResourceExhausted };
    await expect(fill()).rejects.toMatchObject(isFull);
    await expect(send("second", "a key of the first two agents")).rejects.toMatchObject(isFull);
    await send("third", "a key of the third agent");
    gate.resolve();
    await host.close();
  });

  for (const [what, limits, reads] of [
    ["the newest events of tasks", { maxTotalTailBytes: 40_000 }, { first: [], second: [100], third: [] }],
    [
      "old events that are being read",
      { maxTailBytes: 1, maxTotalTailBytes: 20_000 },
      { first: [100], second: [1], third: [100] },
    ],
  ] as const) {
    it(`share the memory for ${what}, and those with other limits have their own`, async () => {
      const gate = Promise.withResolvers<void>();
      const writer: AgentDefinition = {
        card: { name: "Writer" },
        async *execute(turn) {
          for (let event = 0; event < 20; event += 1) yield turn.working("x".repeat(1_000));
          yield turn.working("written");
          await gate.promise;
        },
      };
      const names = ["first", "second", "third"] as const;
      const stores = names.map(() => createMemoryTaskStore());
      const other = { ...limits, maxTotalTailBytes: limits.maxTotalTailBytes + 1 };
      const agents = names.map((name, at) => [
        name,
        {
          agent: writer,
          store: stores[at],
          limits: name === "third" ? other : limits,
          assumeVersion: "1.0",
        },
      ]);
      const host = createAgentHost({ agents: Object.fromEntries(agents) });
      await host.start();
      const client = clientOf(host);
      const readers = new AbortController();
      const asked: Record<string, (number | undefined)[]> = {};
      for (const [at, store] of stores.entries()) {
        const tenant = names[at] ?? "";
        const configuration = { returnImmediately: true };
        const { id } = taskOf(await client.sendMessage({ ...say("write"), tenant, configuration }));
        const words = async () =>
          (await client.getTask({ id, tenant })).status?.message?.parts[0]?.content.value;
        await expect.poll(words).toBe("written");
        const pages = vi.spyOn(store, "events");
        const options = { headers: { "last-event-id": "3" }, signal: readers.signal };
        const reader = client.subscribeToTask({ id, tenant }, options);
        await reader[Symbol.asyncIterator]().next(); // and reads no further
        asked[tenant] = pages.mock.calls.map(([, , , limit]) => limit);
      }
      expect(asked).toEqual(reads);
      readers.abort();
      gate.resolve();
      await host.close();
    });
  }
});
