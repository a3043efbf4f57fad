// Credentials that end before the task does, and tokens that are for one task.

import { bearerJwt, createTaskTokens, type TaskTokens } from "@a2a-connect/auth";
import { createCredentials } from "@a2a-connect/auth/client";
import { findA2AError, text } from "@a2a-connect/core";
import { connectAgent } from "@a2a-connect/node/client";
import { Role, type StreamResponse, type Task } from "@a2a-connect/proto";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import {
  type A2AClient,
  type AgentHarness,
  createFakeClock,
  startAgentHarness,
  wires,
} from "@a2a-connect/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { namesTask, ways } from "./every-call.ts";
import { audience, createIssuer, type TestIssuer } from "./issuer.ts";

const clock = createFakeClock(Date.now());
const goOn = Promise.withResolvers<void>();
const released = Promise.withResolvers<void>();
const secret = crypto.getRandomValues(new Uint8Array(32));
const minted: Record<string, string> = {};
let tokens: TaskTokens;
let issuer: TestIssuer;
let harness: AgentHarness;

const agent = defineAgent({
  card: { name: "Slow", skills: [] },
  async *execute(turn) {
    if (turn.text === "hold") {
      minted[turn.taskId] = await tokens.mint(turn, { ttlSeconds: 300 });
      yield turn.inputRequired("And then?");
      return;
    }
    yield turn.working();
    yield turn.artifact({ name: "one", parts: [text("1")] });
    await (turn.text === "wait" ? released : goOn).promise;
    yield turn.artifact({ name: "two", parts: [text("2")] });
  },
});

const seconds = () => Math.floor(clock.now() / 1_000);
const headersOf = async (sub: string, life = 300) => ({
  authorization: `Bearer ${await issuer.token(sub, { claims: { iat: seconds(), exp: seconds() + life } })}`,
});
const message = (words: string, taskId = "") => ({
  message: { messageId: crypto.randomUUID(), role: Role.USER, taskId, parts: [text(words)] },
});

beforeAll(async () => {
  issuer = await createIssuer();
  tokens = createTaskTokens({
    issuer: audience,
    secret: [secret, new Uint8Array(32)],
    now: () => clock.now(),
  });
  const now = () => clock.now();
  const token = bearerJwt({ issuer: issuer.issuer, audience, keys: issuer.keys, now, clockSkewSeconds: 0 });
  harness = await startAgentHarness({
    agent,
    clock,
    store: createMemoryTaskStore(),
    limits: { chunkIntervalMs: 0 }, // the clock stands still, so an artifact that comes alone would wait for ever
    protocolVersions: ["1.0", "1.1", "0.3"],
    push: { fetch: async () => new Response() },
    extendedCard: { find: () => agent.card },
    auth: { gates: { token, task: tokens.gate } },
  });
});
afterAll(() => harness[Symbol.asyncDispose]());

/** Reads a stream until it ends, and says how. */
async function read(events: AsyncIterable<StreamResponse>, seen: StreamResponse[], onEvent = () => {}) {
  try {
    for await (const event of events) {
      seen.push(event);
      onEvent();
    }
    return "ended";
  } catch (error) {
    return findA2AError(error)?.reason;
  }
}

describe("a stream whose token expires", () => {
  it("goes on by itself where the client gets its own tokens", async () => {
    let given = 0;
    const bearer = async () => {
      given += 1;
      return (await headersOf("alice", 60)).authorization.slice("Bearer ".length);
    };
    const bindings = ["JSONRPC", "HTTP+JSON", "GRPC", "connect", "grpc-web"];
    const runs = bindings.map(async (name) => {
      const pinBinding = name === name.toUpperCase() ? name : `urn:a2a-connect:binding:${name}:v1`;
      const auth = createCredentials({ bearer });
      await using client = await connectAgent(harness.url, {
        auth,
        pinBinding,
        retry: { initialDelayMs: 1 },
      });
      const seen: StreamResponse[] = [];
      for await (const event of client.stream("wait")) {
        seen.push(event);
        if (seen.length === 3) ready.get(name)?.resolve();
      }
      return seen.length;
    });
    const ready = new Map(bindings.map((name) => [name, Promise.withResolvers<void>()]));
    await Promise.all([...ready.values()].map(({ promise }) => promise));
    await clock.advance(61_000);
    await vi.waitFor(() => expect(given).toBeGreaterThanOrEqual(2 * bindings.length));
    released.resolve();
    expect(await Promise.all(runs)).toEqual(bindings.map(() => 5));
  });

  it("ends with UNAUTHENTICATED on every wire, and goes on with a fresh token without a loss", async () => {
    const old = await headersOf("alice", 60);
    const streams = wires.map((wire) => {
      const seen: StreamResponse[] = [];
      const ready = Promise.withResolvers<void>();
      const events = harness.client(wire, { headers: old }).sendStreamingMessage(message("go"));
      return { wire, seen, ready, end: read(events, seen, () => seen.length === 3 && ready.resolve()) };
    });
    await Promise.all(streams.map(({ ready }) => ready.promise));
    await clock.advance(61_000);
    expect(await Promise.all(streams.map(({ end }) => end))).toEqual(wires.map(() => "UNAUTHENTICATED"));
    goOn.resolve();
    const fresh = await headersOf("alice");
    for (const { wire, seen } of streams) {
      const first = seen[0]?.payload;
      const id = first?.case === "task" ? first.value.id : "";
      const client = harness.client(wire, { headers: fresh });
      const headers = { "last-event-id": String(seen.length) };
      expect(await read(client.subscribeToTask({ id }, { headers }), seen)).toBe("ended");
      const names = seen.flatMap(({ payload }) =>
        payload.case === "artifactUpdate" ? payload.value.artifact?.name : [],
      );
      expect([wire, names, seen.length]).toEqual([wire, ["one", "two"], 5]);
    }
  });
});

describe("a task token", () => {
  let mine: Task;
  let other: Task;
  const asHolder = () => ({ authorization: `Bearer ${minted[mine.id]}` });
  const begin = async (client: A2AClient): Promise<Task> => {
    const { payload } = await client.sendMessage(message("hold"));
    if (payload.case !== "task") throw new Error("it is a task");
    return payload.value;
  };
  beforeAll(async () => {
    const client = harness.client("connect", { headers: await headersOf("alice") });
    [mine, other] = [await begin(client), await begin(client)];
  });

  it("does nothing with another task of the same owner, whatever is tried", async () => {
    for (const way of ways.filter(({ operation }) => namesTask(operation))) {
      const { result } = await way.call({ harness, headers: asHolder(), taskId: other.id });
      expect([way.title, result]).toEqual([way.title, "TASK_NOT_FOUND"]);
    }
  });

  it("does nothing but get, subscribe, answer and cancel with its own", async () => {
    const allowed = ["getTask", "subscribeToTask", "sendMessage", "sendStreamingMessage"];
    for (const way of ways.filter(({ operation }) => operation !== "cancelTask")) {
      const { result } = await way.call({ harness, headers: asHolder(), taskId: mine.id });
      const wanted = allowed.includes(way.operation) ? "ok" : "PERMISSION_DENIED";
      expect([way.title, result]).toEqual([way.title, wanted]);
    }
    for (const way of ways.filter(({ operation }) => operation.startsWith("send"))) {
      const { result } = await way.call({ harness, headers: asHolder(), taskId: undefined });
      expect([way.title, result]).toEqual([way.title, "PERMISSION_DENIED"]);
    }
  });

  it("registers no webhook with a message, which would outlive it", async () => {
    const client = harness.client("connect", { headers: asHolder() });
    const configuration = { taskPushNotificationConfig: { url: "https://hooks.example" } };
    const sent = client.sendMessage({ ...message("more", mine.id), configuration });
    await expect(sent).rejects.toThrow("registers no webhook");
  });

  it("does not count for another audience, when it was changed, or after five minutes", async () => {
    const client = (token: string) =>
      harness.client("jsonrpc", { headers: { authorization: `Bearer ${token}` } });
    const refusal = (token: string) =>
      client(token)
        .getTask({ id: mine.id })
        .then(
          () => "ok",
          (error) => `${findA2AError(error)?.reason}: ${error.rawMessage}`,
        );
    const task = { taskId: mine.id, caller: { principal: "https://id.example|alice", tenant: "" } };
    expect(await refusal(await tokens.mint(task))).toBe("ok");
    const older = createTaskTokens({ issuer: audience, secret: new Uint8Array(32), now: () => clock.now() });
    expect(await refusal(await older.mint(task))).toBe("ok");
    const elsewhere = await tokens.mint(task, { audience: "https://other.example" });
    expect(await refusal(elsewhere)).toBe("UNAUTHENTICATED: the task token does not hold");
    const forged = createTaskTokens({
      issuer: audience,
      secret: new Uint8Array(32).fill(7),
      now: () => clock.now(),
    });
    expect(await refusal(await forged.mint(task))).toBe("UNAUTHENTICATED: the task token does not hold");
    expect((await harness.client("grpc", { headers: asHolder() }).cancelTask({ id: mine.id })).id).toBe(
      mine.id,
    );
    await clock.advance(300_000);
    expect(await refusal(minted[mine.id] ?? "")).toBe("UNAUTHENTICATED: the task token has expired");
    expect(() => createTaskTokens({ issuer: audience, secret: new Uint8Array(31) })).toThrow(
      "32 random bytes",
    );
  });
});
