// Every operation, over every wire, in every version, for every kind of caller: none reaches what is not its own.

import { bearerJwt } from "@a2a-connect/auth";
import { actionOf } from "@a2a-connect/auth/internal";
import { methods } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { createMemoryTaskStore, defineAgent, type TaskStore } from "@a2a-connect/server";
import { type AgentHarness, startAgentHarness } from "@a2a-connect/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { namesTask, type Target, type Way, ways } from "./every-call.ts";
import { createIssuer, type TestIssuer } from "./issuer.ts";

const agent = defineAgent({
  card: { name: "Private", skills: [] },
  async *execute(turn) {
    if (turn.text !== "end") yield turn.inputRequired("And then?");
  },
});

/** Every read of tasks, in order: names alone, because ids and owners differ. */
const reads: string[] = [];

function countReads(store: TaskStore): TaskStore {
  const counted = new Set(["claim", "find", "events", "entries", "list", "weigh", "findKey", "findReply"]);
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...parameters: unknown[]) => {
        if (counted.has(String(name)) || String(name).includes("PushConfig")) reads.push(String(name));
        return Reflect.apply(member, target, parameters);
      };
    },
  });
}

let issuer: TestIssuer;
let harness: AgentHarness;
const tokens: Record<string, Readonly<Record<string, string>>> = {};

beforeAll(async () => {
  issuer = await createIssuer();
  harness = await startAgentHarness({
    agent,
    store: countReads(createMemoryTaskStore()),
    protocolVersions: ["1.0", "1.1", "0.3"],
    push: { fetch: async () => new Response() },
    extendedCard: { find: () => agent.card },
    auth: {
      gates: {
        token: bearerJwt({
          issuer: issuer.issuer,
          audience: "https://agents.example",
          keys: issuer.keys,
          tenant: ({ tenant }) => (typeof tenant === "string" ? tenant : undefined),
        }),
      },
    },
  });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  tokens["owner"] = bearer(await issuer.token("alice"));
  tokens["other user"] = bearer(await issuer.token("mallory"));
  tokens["other tenant"] = bearer(await issuer.token("alice", { claims: { tenant: "globex" } }));
  tokens["no scope"] = bearer(await issuer.token("alice", { claims: { scope: "" } }));
  tokens["expired"] = bearer(await issuer.token("alice", { lifeSeconds: -60 }));
  tokens["none"] = {};
});
afterAll(() => harness[Symbol.asyncDispose]());

const target = (who: string, taskId: string | undefined): Target => ({
  harness,
  headers: tokens[who] ?? {},
  taskId,
});

async function ownedTask(): Promise<string> {
  const client = harness.client("connect", { headers: tokens["owner"] ?? {} });
  const { payload } = await client.sendMessage({
    message: {
      messageId: crypto.randomUUID(),
      role: 1,
      parts: [{ content: { case: "text", value: "hold" } }],
    },
  });
  const taskId = payload.case === "task" ? payload.value.id : "";
  await client.createTaskPushNotificationConfig({ taskId, id: "hook", url: "https://hook.example/" });
  return taskId;
}

const isCard = ({ operation }: Way) => actionOf(methods[operation]).kind === "card";
const foreign = ["other user", "other tenant"];

describe(`${ways.length} ways to call`, () => {
  let taskId: string;
  const abort = new AbortController();
  beforeAll(async () => {
    taskId = await ownedTask();
    // Its owner reads along, so the task is in memory; one that is missing never is.
    const client = harness.client("connect", { headers: tokens["owner"] ?? {} });
    const events = client.subscribeToTask({ id: taskId }, { signal: abort.signal })[Symbol.asyncIterator]();
    await events.next();
  });
  afterAll(() => abort.abort());

  it("are every operation over every wire in every version", () => {
    expect(ways.length).toBe(Object.keys(methods).length * 5 * 2 + 10 * 4);
  });

  for (const who of ["none", "expired"]) {
    it(`are closed to a caller with ${who === "none" ? "no token" : "an expired one"}`, async () => {
      for (const way of ways) {
        reads.length = 0;
        expect([way.title, (await way.call(target(who, taskId))).result, reads]).toEqual([
          way.title,
          "UNAUTHENTICATED",
          [],
        ]);
      }
    });
  }

  it("are closed to a caller without a scope, who is told which", async () => {
    for (const way of ways) {
      reads.length = 0;
      const { result, told } = await way.call(target("no scope", taskId));
      if (isCard(way)) {
        expect([way.title, result]).toEqual([way.title, "ok"]);
        continue;
      }
      const scope = `a2a:tasks:${actionOf(methods[way.operation]).kind}`;
      expect([way.title, result, told.includes(scope), reads]).toEqual([
        way.title,
        "PERMISSION_DENIED",
        true,
        [],
      ]);
    }
  });

  for (const who of foreign) {
    it(`show a task of another to a caller as one that is missing, in words and in work: ${who}`, async () => {
      for (const way of ways.filter(({ operation }) => namesTask(operation))) {
        const missingId = crypto.randomUUID();
        reads.length = 0;
        const strange = await way.call(target(who, taskId));
        const strangeReads = reads.splice(0);
        const missing = await way.call(target(who, missingId));
        expect([way.title, strange.result]).toEqual([way.title, "TASK_NOT_FOUND"]);
        expect([way.title, strange.told.replaceAll(taskId, missingId)]).toEqual([way.title, missing.told]);
        expect([way.title, strangeReads]).toEqual([way.title, reads.splice(0)]);
      }
    });

    it(`list and begin nothing of others: ${who}`, async () => {
      for (const way of ways.filter(
        ({ operation }) => !namesTask(operation) || operation.startsWith("send"),
      )) {
        const { result, value } = await way.call({ ...target(who, undefined), text: "end" });
        expect([way.title, result]).toEqual([way.title, "ok"]);
        expect(
          JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each)),
        ).not.toContain(taskId);
      }
    });
  }

  it("change nothing of a task for those who may not see it", async () => {
    const client = harness.client("connect", { headers: tokens["owner"] ?? {}, version: "1.1" });
    const { status, generation, history } = await client.getTask({ id: taskId });
    expect([status?.state, history.length]).toEqual([TaskState.INPUT_REQUIRED, 1]);
    expect(generation).toBeLessThanOrEqual(3n);
    const { configs } = await client.listTaskPushNotificationConfigs({ taskId });
    expect(configs.map(({ id }) => id)).toEqual(["hook"]);
  });

  it("work for the owner", async () => {
    for (const way of ways) {
      const id = way.operation === "listTasks" || isCard(way) ? undefined : await ownedTask();
      const { result, told } = await way.call(target("owner", id));
      expect([way.title, result, told]).toEqual([way.title, "ok", ""]);
    }
  });
});
