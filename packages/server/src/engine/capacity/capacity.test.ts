import { readLifecycleReport } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, reasonOf, say, taskOf, wordsOf } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { startScripted } from "../../../test-support/agents.ts";
import { detached, lifecycle, sendStream, sendTask } from "../../../test-support/tasks.ts";
import type { CapacityDefinition } from "../../agent/agent-definition.ts";
import { defineAgent } from "../../agent/agent-definition.ts";

const skill = { id: "dig", name: "Dig", description: "Digs." };
const dig = lifecycle({ skill: "dig" });

async function scripted(agentCapacity: CapacityDefinition, skillCapacity: CapacityDefinition = {}) {
  const card = { name: "Agent", skills: [{ ...skill, ...skillCapacity }] };
  const harness = await startScripted({ card, ...agentCapacity });
  const send = (words: string, details: Parameters<typeof say>[1] = {}) =>
    harness.client.sendMessage(say(words, details));
  return { ...harness, send };
}

describe("a task that finds every place and the queue full", () => {
  it("is REJECTED with reason capacity and a time to try again, before any work", async () => {
    const { client, script, clock, send } = await scripted({ maxRunning: 1, maxQueued: 1 });
    void send("first");
    const first = await script.nextTurn();
    const second = send("second");
    await clock.settle();
    const refused = taskOf(await send("third"));
    const { status, history } = refused;
    expect([status?.state, reasonOf(refused)]).toEqual([TaskState.REJECTED, "capacity"]);
    expect(readLifecycleReport(status?.message?.metadata).retryAfterSeconds).toBe(2);
    expect(status?.message?.parts[0]?.content.value).toBe(
      "Too many tasks are waiting; send it again in 2 seconds or later.",
    );
    expect(history.map(({ parts }) => parts[0]?.content.value)).toEqual(["third"]);
    expect(await client.getTask({ id: refused.id })).toEqual(refused);
    first.returns();
    (await script.nextTurn()).returns();
    expect(taskOf(await second).status?.state).toBe(TaskState.COMPLETED);
    await clock.settle();
    expect(script.begun).toBe(2);
    void send("fourth");
    expect((await script.nextTurn()).turn.text).toBe("fourth");
  });

  it("ends its stream after two events", async () => {
    const { client, script, clock, send } = await scripted({ maxRunning: 1, maxQueued: 0 });
    void send("first");
    await script.nextTurn();
    await clock.settle();
    const stream = sendStream(client, say("second"));
    await stream.ended;
    expect(wordsOf(stream.events)).toEqual(["task submitted", "rejected"]);
  });

  it("tells a longer time when runs take longer", async () => {
    const { script, clock, send } = await scripted({ maxRunning: 1, maxQueued: 0 });
    void send("first");
    const first = await script.nextTurn();
    await clock.advance(60_000);
    first.returns();
    await clock.settle();
    void send("second");
    await script.nextTurn();
    await clock.settle();
    const report = readLifecycleReport(taskOf(await send("third")).status?.message?.metadata);
    expect(report).toEqual({ reason: "capacity", retryAfterSeconds: 60 });
  });
});

describe("the capacity of a skill", () => {
  it("leaves the places of the agent to everybody else", async () => {
    const { client, script, clock, send } = await scripted(
      { maxRunning: 2 },
      { maxRunning: 1, maxQueued: 1 },
    );
    void send("dig 1", dig);
    const first = await script.nextTurn();
    const second = send("dig 2", dig);
    await clock.settle();
    expect((await client.listTasks({ status: TaskState.SUBMITTED })).totalSize).toBe(1);
    expect(reasonOf(taskOf(await send("dig 3", dig)))).toBe("capacity");
    const other = send("something else");
    const otherTurn = await script.nextTurn();
    expect(otherTurn.turn.text).toBe("something else");
    otherTurn.returns();
    expect(taskOf(await other).status?.state).toBe(TaskState.COMPLETED);
    expect(script.begun).toBe(2);
    first.returns();
    const secondTurn = await script.nextTurn();
    expect(secondTurn.turn.text).toBe("dig 2");
    secondTurn.returns();
    expect(taskOf(await second).status?.state).toBe(TaskState.COMPLETED);
  });

  it("is free again while a task waits for its caller, and takes the answer even when the queue is full", async () => {
    const { script, clock, send } = await scripted({}, { maxRunning: 1, maxQueued: 0 });
    const asked = send("dig 1", dig);
    const { turn, yields } = await script.nextTurn();
    await yields(turn.inputRequired("where?"));
    const { id } = taskOf(await asked);
    await clock.settle();
    void send("dig 2", dig);
    const busy = await script.nextTurn();
    await clock.settle();
    expect(reasonOf(taskOf(await send("dig 3", dig)))).toBe("capacity");
    const answered = send("here", { taskId: id });
    await clock.settle();
    busy.returns();
    const next = await script.nextTurn();
    expect(next.turn.text).toBe("here");
    next.returns();
    expect(taskOf(await answered).status?.state).toBe(TaskState.COMPLETED);
  });

  it("counts a task that was canceled while it waited no more", async () => {
    const { client, script, clock, send } = await scripted({}, { maxRunning: 1, maxQueued: 1 });
    void send("dig 1", dig);
    const first = await script.nextTurn();
    const waiting = await sendTask(client, detached("dig 2", dig));
    await client.cancelTask({ id: waiting.id });
    const third = send("dig 3", dig);
    await clock.settle();
    first.returns();
    const next = await script.nextTurn();
    expect(next.turn.text).toBe("dig 3");
    next.returns();
    expect(taskOf(await third).status?.state).toBe(TaskState.COMPLETED);
  });
});

describe("the capacity of a durable skill", () => {
  it("is free again while a task waits, and refuses before any work like every other", async () => {
    const gates = new Map<string, PromiseWithResolvers<void>>();
    const begun: string[] = [];
    const agent = defineAgent({
      card: { name: "Agent" },
      durable: true,
      maxRunning: 1,
      maxQueued: 0,
      async *execute(task) {
        begun.push(task.text);
        if (task.text === "asks") yield* task.ask("?");
        const gate = Promise.withResolvers<void>();
        gates.set(task.text, gate);
        await gate.promise;
      },
    });
    const { client, clock } = await createEngineHarness({ agent });
    const asking = await sendTask(client, say("asks"));
    expect(asking.status?.state).toBe(TaskState.INPUT_REQUIRED);
    await clock.settle();
    const busy = client.sendMessage(say("busy"));
    await clock.settle();
    expect(reasonOf(await sendTask(client, say("too much")))).toBe("capacity");
    const answered = client.sendMessage(say("yes", { taskId: asking.id }));
    await clock.settle();
    expect([begun, [...gates.keys()]]).toEqual([["asks", "busy"], ["busy"]]);
    gates.get("busy")?.resolve();
    expect(taskOf(await busy).status?.state).toBe(TaskState.COMPLETED);
    await clock.settle();
    gates.get("asks")?.resolve();
    expect(taskOf(await answered).status?.state).toBe(TaskState.COMPLETED);
    expect(begun).not.toContain("too much");
  });

  it("leaves no task behind that the process has refused", async () => {
    const begun = Promise.withResolvers<void>();
    const agent = defineAgent({
      card: { name: "Agent" },
      durable: true,
      async *execute(task) {
        begun.resolve();
        yield task.working();
        await new Promise(() => {});
      },
    });
    const { client, clock } = await createEngineHarness({ agent, limits: { maxRunning: 1, maxQueued: 0 } });
    void client.sendMessage(say("busy"));
    await begun.promise;
    await clock.settle();
    await expect(client.sendMessage(say("too much"))).rejects.toMatchObject({ code: Code.ResourceExhausted });
    await clock.settle();
    expect((await client.listTasks({})).totalSize).toBe(1);
  });
});

describe("a capacity that is none", () => {
  for (const [problem, capacity] of [
    ["maxRunning of the agent is a whole number from 1 on, not 0", { maxRunning: 0 }],
    ["maxRunning of the agent is a whole number from 1 on, not 1.5", { maxRunning: 1.5 }],
    ["maxQueued of the agent is a whole number from 0 on, not -1", { maxQueued: -1 }],
    ['maxRunning of skill "dig" is a whole number from 1 on, not NaN', { skill: { maxRunning: Number.NaN } }],
    [
      'maxQueued of skill "dig" is a whole number from 0 on, not Infinity',
      { skill: { maxQueued: Infinity } },
    ],
  ] as const) {
    it(`is refused: ${problem}`, () => {
      const { skill: own = {}, ...agent } = { skill: {}, ...capacity };
      const define = () =>
        defineAgent({ card: { name: "Agent", skills: [{ ...skill, ...own }] }, execute: () => [], ...agent });
      expect(define).toThrow(problem);
    });
  }
});
