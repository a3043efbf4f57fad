// The scenarios of the conformance kit a second time, for those of its calls that A2A 0.3 has: each call is written in the form of
// 0.3 and its answer read back, so a scenario finds the same task as over 1.0.
import { createOlderHttpJsonTransport, createOlderJsonRpcTransport } from "@a2a-connect/bindings/v03";
import { createOlderRpcTransport } from "@a2a-connect/bindings/v03/rpc";
import { readOlderCard } from "@a2a-connect/client/internal";
import {
  allScenarios,
  type FoundServer,
  findServer,
  runScenario,
  type ServerName,
  type Target,
} from "@a2a-connect/conformance";
import { userMessage } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import { A2AService, MessageSchema, StreamResponseSchema } from "@a2a-connect/proto";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { type AgentHarness, startAgentHarness } from "@a2a-connect/testing";
import { fromBinary } from "@bufbuild/protobuf";
import { createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planServers } from "../conformance/servers.ts";

/** Of the webhooks' group the whole is another in 0.3: `official-client.test.ts` has its test. */
const names: readonly ServerName[] = ["full", "push", "no-push", "bare"];
const groups = Object.values(allScenarios).filter(({ title }) => title !== "N Push notifications");
const everyWire = ["jsonrpc", "http-json", "grpc"] as const;
const protoWires = ["http-json", "grpc"] as const;
type OlderWire = (typeof everyWire)[number];

const store = createMemoryTaskStore();
const harnesses: AgentHarness[] = [];
const servers = new Map<ServerName, FoundServer>();
beforeAll(async () => {
  const plans = planServers();
  for (const name of names) {
    const harness = await startAgentHarness({
      ...plans[name].options,
      store: name === "full" ? store : createMemoryTaskStore(),
    });
    harnesses.push(harness);
    servers.set(name, await findServer(harness.url));
  }
});
afterAll(async () => {
  for (const server of servers.values()) server[Symbol.dispose]();
  await Promise.all(harnesses.map((harness) => harness[Symbol.asyncDispose]()));
});

function serverOf(name: ServerName): FoundServer {
  const server = servers.get(name);
  if (server === undefined) throw new Error(`the server "${name}" does not run`);
  return server;
}

/** What a scenario has done that has no form in 0.3, or goes past the client; filled while it runs. */
type Limits = Set<"bytes of 1.0" | "a version" | "ListTasks" | "a tenant">;

/** A server whose clients write 0.3. */
function inOlderForm(server: FoundServer, limits: Limits): FoundServer {
  return { ...server, target: (options) => targetInOlderForm(server.target(options), limits) };
}

function targetInOlderForm(current: Target, limits: Limits): Target {
  const refuse = (): never => {
    limits.add("bytes of 1.0");
    throw new Error("this scenario is about bytes of 1.0");
  };
  return {
    ...current,
    fetch: refuse,
    fetchOn: refuse,
    fetchFrom: refuse,
    address: refuse,
    record: refuse,
    asStranger: () => targetInOlderForm(current.asStranger(), limits),
    client(wire, { version, headers = {}, onResponse } = {}) {
      if (onResponse !== undefined || !isOlderWire(wire)) return refuse();
      if (version !== undefined) limits.add("a version");
      const watch: Interceptor = (next) => (request) => {
        if (request.method.name === "ListTasks") limits.add("ListTasks");
        if ("tenant" in request.message && request.message.tenant !== "") limits.add("a tenant");
        for (const [name, value] of Object.entries({ ...current.headers, ...headers })) {
          request.header.set(name, value);
        }
        return next(request);
      };
      const transport = openOlder(wire, current.address(wire), [watch]);
      return createClient(A2AService, {
        ...transport,
        stream(...call) {
          const opening = transport.stream(...call);
          opening.catch(() => {}); // a stream that a scenario opens and never reads may fail, too
          return opening;
        },
      });
    },
  };
}

function isOlderWire(wire: string): wire is OlderWire {
  return everyWire.some((each) => each === wire);
}

function openOlder(wire: OlderWire, url: string, interceptors: Interceptor[]): Transport {
  const readCard = readOlderCard;
  switch (wire) {
    case "jsonrpc":
      return createOlderJsonRpcTransport({ url, interceptors, readCard });
    case "http-json":
      return createOlderHttpJsonTransport({ baseUrl: url, interceptors, readCard });
    case "grpc":
      return createOlderRpcTransport(createGrpcTransport({ baseUrl: url }), { url, interceptors, readCard });
  }
}

/** Scenarios in which 0.3 is another: what becomes of them, over which wires, and their titles. */
const differences: readonly (readonly [because: string, wires: readonly OlderWire[], ...titles: string[]])[] =
  [
    [
      "fields have their names of 0.3",
      everyWire,
      "names everything that is wrong at once",
      "refuses a send with a part without content, and does nothing",
      "refuses a webhook whose URL is not valid, or not allowed",
    ],
    ["fields have their names of 0.3", protoWires, "refuses a send with no parts, and does nothing"],
    ["a message needs no id", protoWires, "refuses a send with no message id, and does nothing"],
    [
      "a text has no media type",
      everyWire,
      "refuses text of another type where only text and JSON are taken",
      "lets a skill take what the agent does not, and the other way round",
    ],
    [
      "a stream ends where the agent asks",
      everyWire,
      "keeps a subscription open at INPUT_REQUIRED until the task has ended",
      "gives all streams the same events, and losing one touches nothing else",
      "begins a subscription with the task as it is, without a gap after it",
      "ends a subscription when the task is canceled",
      "goes on with what happens after the events that were missed",
      "gives the task as it is the id of the last event that is in it",
      "streams what gRPC streams, event by event",
      "ends a stream of gRPC when the task is canceled",
    ],
    [
      "a subscription to a task that has ended gives the task",
      everyWire,
      "refuses to subscribe to the task of a hello that has ended",
      "refuses to subscribe to a task that has ended",
      "needs an event id for a task that has ended, and a task for it",
    ],
    ["lists have no pages", everyWire, "lists all webhooks of a task, and pages where asked to"],
    ["a webhook of a message has no task", everyWire, "refuses a webhook in a send that names a task"],
    ["a cancel has no metadata", protoWires, "hands the metadata of a cancel to the agent"],
    ["a message has no references", protoWires, "takes references to unknown and to foreign tasks alike"],
    [
      "a history of length 0 is one of no length",
      protoWires,
      "has the newest 0 of SendMessage",
      "shortens the snapshot that a stream begins with, too",
    ],
    ["a history of length 0 is one of no length", ["grpc"], "has the newest 0 of GetTask"],
  ];

const outcomes = { same: 0, different: 0, "not tried": 0 };
for (const { title, scenarios } of groups) {
  const chosen = scenarios.filter(({ server, needs }) => needs === "reference" && names.includes(server));
  const cases = chosen.flatMap((scenario) =>
    everyWire.flatMap((wire) => (scenario.places.includes(wire) ? [{ scenario, wire }] : [])),
  );
  if (cases.length === 0) continue;
  describe(title, () => {
    it.each(cases)("$scenario.title ($wire)", async ({ scenario, wire }) => {
      const limits: Limits = new Set();
      const server = inOlderForm(serverOf(scenario.server), limits);
      const [{ status, reason }] = (await Promise.allSettled([
        runScenario(scenario, wire, server, { spec: "1.0.1" }),
      ])) as [PromiseSettledResult<void> & { readonly reason?: unknown }]; // one for one
      if (limits.size > 0) {
        outcomes["not tried"] += 1;
        return;
      }
      const isDifferent = differences.some(
        ([, wires, ...titles]) => wires.includes(wire) && titles.includes(scenario.title),
      );
      outcomes[isDifferent ? "different" : "same"] += 1;
      if (!isDifferent && status === "rejected") throw reason;
      expect(status, "it is different no more").toBe(isDifferent ? "rejected" : "fulfilled");
    });
  });
}

it("was the same task in hundreds of scenarios, and each difference is one", () => {
  expect(outcomes.same).toBeGreaterThan(300);
  const titles = groups.flatMap(({ scenarios }) => scenarios.map(({ title }) => title));
  for (const [because, , ...named] of differences) {
    expect(titles, because).toEqual(expect.arrayContaining(named));
  }
});

describe("the log of a task", () => {
  const turns = [
    ["task hello"],
    ["stream 3"],
    ["parts"],
    ["fail Why"],
    ["reject Why"],
    ["ask What?", "Ada"],
    ["piece One", "task two"],
  ];

  it.each(everyWire)("is the same whether it is called over %s in 1.0 or 0.3", async (wire) => {
    const server = serverOf("full");
    const target = server.target();
    const older = targetInOlderForm(target, new Set());
    for (const texts of turns) {
      const logs: unknown[] = [];
      for (const client of [target.client(wire), older.client(wire)]) {
        let taskId = "";
        for (const text of texts) {
          const message = userMessage(text, { messageId: crypto.randomUUID(), taskId });
          const { payload } = await client.sendMessage({ message });
          if (payload.case !== "task") throw new Error("these commands make tasks");
          taskId = payload.value.id;
        }
        logs.push(await logOf(taskId));
      }
      expect(logs[1], texts.join()).toEqual(logs[0]);
      expect(logs[0]).not.toEqual([]);
    }
  });
});

/** A note without the times in it, which are members of a command, and values that a record of the journal names by their index. */
function withoutTimes(note: string): string {
  const content = JSON.parse(note);
  const [record, values] = Array.isArray(content) ? [content[0], content] : [content, content];
  for (const time of ["at", "tookMs"]) {
    if (time in record) values[Array.isArray(content) ? record[time] : time] = 0;
  }
  return JSON.stringify(content);
}

/** Every entry, with the texts of its payload but for ids and times. */
async function logOf(taskId: string): Promise<readonly unknown[]> {
  const { entries } = await store.entries(
    { tenant: "", principal: "anonymous" },
    taskId,
    { sequence: 0, generation: 0 },
    "all",
    1_000,
  );
  const anyId = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;
  return entries.map(({ kind, generation, payload }) => {
    const message =
      kind === "input"
        ? formatMessage(MessageSchema, fromBinary(MessageSchema, payload))
        : kind === "command" || kind === "journal"
          ? withoutTimes(new TextDecoder().decode(payload))
          : formatMessage(StreamResponseSchema, fromBinary(StreamResponseSchema, payload));
    const text = JSON.stringify(message)
      .replaceAll(anyId, "ID")
      .replaceAll(/"timestamp":"[^"]+"/g, "TIME");
    return { kind, generation, text };
  });
}
