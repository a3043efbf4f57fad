import { setImmediate as nextTurn } from "node:timers/promises";
import { text } from "@a2a-connect/core";
import { Role } from "@a2a-connect/proto";
import { createEngineHarness, createTurnCount, say } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it, vi } from "vitest";
import { startAgent, startScripted } from "../../test-support/agents.ts";
import { beginLongWork } from "../../test-support/long-work.ts";
import { detached, sendTask } from "../../test-support/tasks.ts";
import { defineAgent } from "../agent/agent-definition.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";

// What the specification says of it stands in packages/conformance/src/scenarios, over all wires and stores.

describe("SendMessage", () => {
  for (const how of ["unary", "streamed"]) {
    it(`refuses parts of a media type that the agent does not take (A-9, A-27), ${how}`, async () => {
      const { client } = await startAgent((turn) => [turn.complete()]);
      const request = say([text("x", { mediaType: "application/x-foo" })]);
      const sent =
        how === "unary" ? client.sendMessage(request) : Array.fromAsync(client.sendStreamingMessage(request));
      await expect(sent).rejects.toMatchObject({
        code: Code.InvalidArgument,
        rawMessage: expect.stringContaining("application/x-foo"),
      });
      expect((await client.listTasks({})).totalSize).toBe(0);
    });
  }

  it("tells the executor the output modes and metadata of the request (A-10)", async () => {
    const { client, script } = await startScripted();
    void client
      .sendMessage({
        ...say("go"),
        metadata: { k: 1 },
        configuration: { acceptedOutputModes: ["text/plain"] },
      })
      .catch(() => {});
    const { turn } = await script.nextTurn();
    expect(turn).toMatchObject({ acceptedOutputModes: ["text/plain"], metadata: { k: 1 }, text: "go" });
  });
});

describe("contexts and history", () => {
  it("puts the question between both messages, and progress nowhere (C-2, C-3, C-5)", async () => {
    const { client } = await startAgent(function* (turn) {
      yield turn.working("thinking");
      yield turn.task === undefined ? turn.inputRequired("Which?") : turn.complete("Done.");
    });
    const { id } = await sendTask(client, say("first", { messageId: "same" }));
    const task = await sendTask(client, say("second", { taskId: id, messageId: "same" }));
    const textOf = ({ parts }: { parts: { content: { value?: unknown } }[] }) =>
      parts.map(({ content }) => content.value).join("");
    expect(task.history.map(textOf)).toEqual(["first", "Which?", "second"]);
    expect(task.history.map(({ role }) => role)).toEqual([Role.USER, Role.AGENT, Role.USER]);
    expect(task.status?.message && textOf(task.status.message)).toBe("Done.");
  });
});

it("a large message does not wait behind all that its caller does, and is not sent when its caller goes", async () => {
  const { client } = await startAgent((turn) => [turn.reply("hi")]);
  const large = say("x".repeat(3 * 2 ** 20));
  const work = beginLongWork(undefined, 3_000); // of the same caller
  await client.sendMessage(large);
  expect(work.begun).toBeLessThan(1_500);
  await work.over;
  const call = new AbortController();
  const others = beginLongWork(undefined, 10);
  const sent = client.sendMessage(detached("x".repeat(3 * 2 ** 20)), { signal: call.signal });
  call.abort();
  await expect(sent).rejects.toMatchObject({ code: Code.Canceled });
  await others.over;
  expect((await client.listTasks({})).totalSize).toBe(0);
});

it("messages to a task, with much that came with them, are encoded in turns of their own", async () => {
  const agent = defineAgent({
    card: { name: "Worker" },
    whileWorking: "queue",
    async *execute(turn) {
      yield turn.working();
      await new Promise(() => {});
    },
  });
  const { client } = await createEngineHarness({ agent });
  const { id } = await sendTask(client, detached("begin"));
  const encoded = createTurnCount();
  const original = JSON.stringify;
  const stringify = vi.spyOn(JSON, "stringify").mockImplementation((...args) => {
    if (args[0]?.type === "queued") encoded.count();
    return original(...args);
  });
  const metadata = { text: "x".repeat(2_200_000) };
  await Promise.all(
    Array.from({ length: 10 }, () => client.sendMessage({ ...detached("more", { taskId: id }), metadata })),
  ).finally(() => stringify.mockRestore());
  expect(encoded).toMatchObject({ total: 10, mostInATurn: 1 });
});

it("repeats of a message that a task ended without read its log a few at a time", async () => {
  const store = createMemoryTaskStore();
  const { entries } = store;
  let reading = 0;
  let most = 0;
  store.entries = async (...args) => {
    reading += 1;
    most = Math.max(most, reading);
    await nextTurn();
    reading -= 1;
    return entries(...args);
  };
  const work = Promise.withResolvers<void>();
  const agent = defineAgent({
    card: { name: "Worker" },
    durable: true,
    whileWorking: "queue",
    async *execute(task) {
      yield task.working();
      await task.step("work", () => work.promise);
    },
  });
  const { clientOf } = await createEngineHarness({ agent, store });
  const client = clientOf("alice");
  const { id } = await sendTask(client, detached("begin"));
  const { message } = say("queued", { taskId: id, messageId: "queued" });
  const options = { headers: { "idempotency-key": "0123456789abcdef" } };
  await client.sendMessage({ message, configuration: { returnImmediately: true } }, options);
  work.resolve();
  await Array.fromAsync(client.subscribeToTask({ id }));
  most = 0;
  const repeats = await Promise.allSettled(
    Array.from({ length: 20 }, () => client.sendMessage({ message }, options)),
  );
  expect(new Set(repeats.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(most).toBe(4); // half of the places for tasks, and half of those for small ones
});

it("what comes with a message to the inbox of a durable executor is not stored, because nothing reads it", async () => {
  const store = createMemoryTaskStore();
  const agent = defineAgent({
    card: { name: "Sleeper" },
    durable: true,
    whileWorking: "queue",
    async *execute(task) {
      yield task.working();
      await task.sleep(60_000);
    },
  });
  const { client } = await createEngineHarness({ agent, store });
  const { id } = await sendTask(client, detached("begin"));
  await client.sendMessage({ ...detached("more", { taskId: id }), metadata: { text: "x".repeat(100_000) } });
  const owner = { tenant: "", principal: "anonymous" };
  expect((await store.weigh(owner, id))?.bytes).toBeLessThan(2_000);
});
