// How often callers may call, and what they are told beyond that.

import { apiKey, hashApiKey } from "@a2a-connect/auth";
import { findA2AError, text } from "@a2a-connect/core";
import { Role } from "@a2a-connect/proto";
import { RetryInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { defineAgent, type RateLimits } from "@a2a-connect/server";
import { createFakeClock, startAgentHarness, wires } from "@a2a-connect/testing";
import { Code, type ConnectError } from "@connectrpc/connect";
import { describe, expect, it, onTestFinished } from "vitest";
import { ways } from "./every-call.ts";

const agent = defineAgent({
  card: { name: "Slow" },
  async *execute(turn) {
    if (turn.text === "end") return yield turn.complete("done");
    yield turn.inputRequired("And then?");
  },
});

async function start(rateLimits: RateLimits) {
  const clock = createFakeClock(Date.now());
  const keys = { alice: { hash: await hashApiKey("alice") }, bob: { hash: await hashApiKey("bob") } };
  const gates = { key: apiKey({ header: "x-key", keys }) };
  const harness = await startAgentHarness({
    agent,
    clock,
    auth: { gates },
    rateLimits,
    protocolVersions: ["1.0", "1.1", "0.3"],
  });
  onTestFinished(() => harness[Symbol.asyncDispose]());
  return { clock, harness, as: (who: string) => ({ headers: { "x-key": who } }) };
}

const message = (words: string) => ({
  message: { messageId: crypto.randomUUID(), role: Role.USER, parts: [text(words)] },
});
const failure = async (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: ConnectError) => error,
  );
const generous = { burst: 1_000, perSecond: 1_000 };

describe("a principal", () => {
  it("that calls too often is told when to call again, on every wire; others are served", async () => {
    const { clock, harness, as } = await start({ perPrincipal: { burst: 5, perSecond: 0.5 } });
    for (let call = 0; call < 5; call++) await harness.client("grpc", as("alice")).listTasks({});
    for (const wire of wires) {
      const error = await failure(harness.client(wire, as("alice")).listTasks({}));
      const delay = error?.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds;
      expect([wire, error?.code, findA2AError(error)?.reason, delay]).toEqual([
        wire,
        Code.ResourceExhausted,
        "RATE_LIMITED",
        2n,
      ]);
      expect([wire, error?.metadata.get("retry-after")]).toEqual([wire, "2"]);
      await harness.client(wire, as("bob")).listTasks({});
    }
    const init = {
      method: "POST",
      headers: { ...as("alice").headers, "a2a-version": "1.0", "content-type": "application/json" },
    };
    const rpc = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} });
    const refused = await harness.fetch("/rpc", { ...init, body: rpc });
    expect([refused.status, refused.headers.get("retry-after"), (await refused.json()).error.code]).toEqual([
      429,
      "2",
      -32057,
    ]);
    await clock.advance(2_000);
    await harness.client("jsonrpc", as("alice")).listTasks({});
    expect(await failure(harness.client("jsonrpc", as("alice")).listTasks({}))).toBeDefined();
  });

  it("that polls one unfinished task is told to wait; long polls and other tasks are not counted", async () => {
    const { clock, harness, as } = await start({ perPrincipal: generous });
    const client = harness.client("connect", { ...as("alice"), version: "1.1" });
    const begin = async (words: string) => {
      const { payload } = await client.sendMessage(message(words));
      return payload.case === "task" ? payload.value.id : "";
    };
    const [id, other, ended] = [await begin("hold"), await begin("hold"), await begin("end")];
    await client.getTask({ id });
    expect(findA2AError(await failure(client.getTask({ id })))?.reason).toBe("RATE_LIMITED");
    await client.getTask({ id: other });
    for (let poll = 0; poll < 3; poll++) await client.getTask({ id: ended });
    for (let poll = 0; poll < 3; poll++) await client.getTask({ id, currentGeneration: 0n });
    const bob = harness.client("connect", as("bob"));
    for (let poll = 0; poll < 3; poll++) {
      expect(findA2AError(await failure(bob.getTask({ id })))?.reason).toBe("TASK_NOT_FOUND");
    }
    await clock.advance(2_000);
    await client.getTask({ id });
  });

  it("has only so many streams open", async () => {
    const { harness, as } = await start({ perPrincipal: generous, streams: 2 });
    const client = harness.client("connect", as("alice"));
    const { payload } = await client.sendMessage(message("hold"));
    const id = payload.case === "task" ? payload.value.id : "";
    const abort = new AbortController();
    const streams = [1, 2].map(() =>
      client.subscribeToTask({ id }, { signal: abort.signal })[Symbol.asyncIterator](),
    );
    await Promise.all(streams.map((stream) => stream.next()));
    const third = () => client.subscribeToTask({ id })[Symbol.asyncIterator]().next();
    expect(findA2AError(await failure(third()))?.reason).toBe("RATE_LIMITED");
    await client.cancelTask({ id });
    for (const stream of streams) while ((await stream.next()).done !== true);
    expect(findA2AError(await failure(third()))?.reason).toBe("UNSUPPORTED_OPERATION"); // it was let in, and the task has ended
    abort.abort();
  });
});

it("an address that guesses keys is told to wait before its guesses are looked at", async () => {
  const { harness, as } = await start({ perAddress: { burst: 3, perSecond: 1 } });
  const reasons: unknown[] = [];
  for (let guess = 0; guess < 5; guess++) {
    const error = await failure(harness.client("jsonrpc", as(`guess-${guess}`)).listTasks({}));
    reasons.push(findA2AError(error)?.reason);
  }
  expect(reasons).toEqual([
    "UNAUTHENTICATED",
    "UNAUTHENTICATED",
    "UNAUTHENTICATED",
    "RATE_LIMITED",
    "RATE_LIMITED",
  ]);
});

it("every way to call counts for the address", async () => {
  const { clock, harness, as } = await start({ perAddress: { burst: 1, perSecond: 1 } });
  const taskId = "00000000-0000-0000-0000-000000000000";
  const seen: unknown[] = [];
  for (const { title, call } of ways) {
    const guess = () => call({ harness, headers: as("guess").headers, taskId });
    seen.push([title, (await guess()).result, (await guess()).result]);
    await clock.advance(1_000);
  }
  expect(seen).toEqual(ways.map(({ title }) => [title, "UNAUTHENTICATED", "RATE_LIMITED"]));
});
