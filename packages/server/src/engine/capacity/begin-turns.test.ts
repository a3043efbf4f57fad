import { text } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createFakeClock, say, taskOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { detached } from "../../../test-support/tasks.ts";
import type { AgentDefinition } from "../../agent/agent-definition.ts";
import type { ArtifactEvent } from "../../agent/task-event.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import type { TaskStore } from "../../store/task-store.ts";

const mebibyte = 2 ** 20;
const limits = { maxActiveBytes: 8 * mebibyte };

interface Writer {
  readonly text: string;
  artifact(init: { parts: readonly ReturnType<typeof text>[] }): ArtifactEvent;
}

function agentOf(durable: boolean, work: (writer: Writer) => AsyncGenerator<ArtifactEvent>): AgentDefinition {
  const base = { card: { name: "Writer" }, inactivityTimeoutMs: false } as const;
  return durable ? { ...base, durable, execute: work } : { ...base, execute: work };
}

describe.each([false, true])("executors that put out a megabyte first (durable: %s)", (durable) => {
  it("begin a few at a time when their caller's tasks take its part of the memory, and hold up no other caller", async () => {
    let made = 0;
    const end = Promise.withResolvers<void>();
    const agent = agentOf(durable, async function* (writer) {
      if (writer.text === "small") return;
      made += 1;
      yield writer.artifact({ parts: [text("x".repeat(mebibyte))] });
      await end.promise;
    });
    const { clientOf, clock } = await createEngineHarness({ agent, limits });
    const alice = clientOf("alice");
    const sent = await Promise.all(Array.from({ length: 100 }, () => alice.sendMessage(detached("large"))));
    await clock.settle();
    expect(made).toBeGreaterThan(6);
    expect(made).toBeLessThan(30);
    const { status } = taskOf(await clientOf("bob").sendMessage(say("small")));
    expect(status?.state).toBe(TaskState.COMPLETED);
    await clock.advance(1_000); // sixteen at a time, until it has twice its part
    const before = made;
    await clock.advance(10_000);
    expect(made - before).toBeLessThan(3); // it has far more than its part
    end.resolve();
    for (const answer of sent) {
      const { id } = taskOf(answer);
      const ended = async () => {
        await clock.advance(250);
        return alice.getTask({ id });
      };
      await expect.poll(async () => (await ended()).status?.state).toBe(TaskState.COMPLETED);
      const [artifact] = (await alice.getTask({ id })).artifacts;
      expect(artifact?.parts[0]?.content.value).toHaveLength(mebibyte);
    }
    expect(made).toBe(100);
  });

  it("do not all begin when the memory becomes free", async () => {
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let [round, made] = [0, 0];
    const agent = agentOf(durable, async function* (writer) {
      made += 1;
      const end = ends[round];
      yield writer.artifact({ parts: [text("x".repeat(mebibyte))] });
      await end?.promise;
    });
    const stored = Promise.withResolvers<void>();
    const store = createMemoryTaskStore();
    const slow: TaskStore["commit"] = async (commit) => {
      const isBegun = commit.entries.some(({ payload }) =>
        new TextDecoder().decode(payload).includes('"begun"'),
      );
      if (isBegun) await stored.promise;
      return store.commit(commit);
    };
    const { client, clock } = await createEngineHarness({ agent, limits, store: { ...store, commit: slow } });
    await Promise.all(Array.from({ length: 100 }, () => client.sendMessage(detached("large"))));
    await clock.settle();
    [round, made] = [1, 0];
    ends[0]?.resolve();
    await clock.settle();
    stored.resolve();
    await clock.settle();
    expect(made).toBeGreaterThan(6);
    expect(made).toBeLessThan(40);
    ends[1]?.resolve();
    await clock.settle();
  });

  it("are canceled before they begin", async () => {
    let made = 0;
    const end = Promise.withResolvers<void>();
    const agent = agentOf(durable, async function* (writer) {
      made += 1;
      yield writer.artifact({ parts: [text("x".repeat(mebibyte))] });
      await end.promise;
    });
    const { client, clock } = await createEngineHarness({ agent, limits });
    const sent = await Promise.all(Array.from({ length: 60 }, () => client.sendMessage(detached("large"))));
    await clock.settle();
    const before = made;
    for (const answer of sent.slice(-5)) {
      const { status } = await client.cancelTask({ id: taskOf(answer).id });
      expect(status?.state).toBe(TaskState.CANCELED);
    }
    expect(made).toBe(before);
    end.resolve();
    await clock.settle();
  });
});

it("a large artifact counts for its caller while it waits for room", async () => {
  const end = Promise.withResolvers<void>();
  const agent = agentOf(false, async function* (writer) {
    await Promise.resolve();
    yield writer.artifact({ parts: [text("x".repeat(mebibyte))] });
    await end.promise;
  });
  const { client, clock } = await createEngineHarness({ agent, limits });
  await Promise.all(Array.from({ length: 30 }, () => client.sendMessage(detached("large"))));
  await clock.settle();
  await expect(client.sendMessage(say("x".repeat(32 * 1024)))).rejects.toThrow(/memory/);
  end.resolve();
  await clock.settle();
});

it("executors of several agents whose commits end at the same moment begin a few in a turn of the event loop", async () => {
  const fake = createFakeClock();
  let ticks = 0;
  const clock = { ...fake, ticks: () => ticks };
  let release = Promise.withResolvers<void>();
  let [inTurn, most, begun] = [0, 0, 0];
  const agent: AgentDefinition = {
    card: { name: "Agent" },
    async *execute(turn) {
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      [inTurn, begun] = [inTurn + 1, begun + 1];
      most = Math.max(most, inTurn);
      ticks += 3; // its code works so long before it yields
      yield turn.working();
      await release.promise;
    },
  };
  const limits = { maxRunning: 16 };
  const servers = await Promise.all(
    Array.from({ length: 6 }, () => createEngineHarness({ agent, clock, limits })),
  );
  for (const { client } of servers) {
    const sent = Array.from({ length: 32 }, () =>
      client.sendMessage({ ...say("go"), configuration: { returnImmediately: true } }),
    );
    await Promise.all([...sent, fake.settle()]);
  }
  expect(begun).toBe(6 * 16);
  const first = release;
  [most, release] = [0, Promise.withResolvers<void>()];
  first.resolve();
  await fake.settle();
  expect(begun).toBe(6 * 32);
  expect(most).toBeLessThan(50);
  release.resolve();
  await fake.settle();
});
