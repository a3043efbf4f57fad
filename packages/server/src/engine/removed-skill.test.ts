import { bytes } from "@a2a-connect/core";
import { type Task, TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createFakeClock, reasonOf, say } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { createMortalStore } from "../../test-support/mortal-store.ts";
import { detached, endOf, lifecycle, sendTask, stateOf } from "../../test-support/tasks.ts";
import type { AgentDefinition, SkillDefinition } from "../agent/agent-definition.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";

const dig = { id: "dig", name: "Dig", description: "Digs." };
const other: SkillDefinition = { id: "fly", name: "Fly", description: "Flies.", execute: () => [] };

/** Pays, and then asks or sleeps as the words say. */
function paying(payments: string[]): SkillDefinition {
  return {
    ...dig,
    durable: true,
    inputModes: ["text/plain", "image/png"],
    async *execute(task) {
      await task.step("pay", () => void payments.push("paid"));
      yield task.working("paid");
      if (task.message.parts[0]?.content.value === "ask") yield* task.ask("how deep?");
      else await task.sleep(60_000);
      yield task.complete("dug");
    },
  };
}

const turning: SkillDefinition = {
  ...dig,
  async *execute(turn) {
    yield turn.working("digging");
    await new Promise(() => {});
  },
};

const restarted: SkillDefinition = { ...turning, recovery: "restart" };

/** Processes over one store, one after the other, each with the skills it is given. */
function createProcesses() {
  const memory = createMemoryTaskStore();
  const clock = createFakeClock();
  let ids = 0;
  return async (definition: Partial<AgentDefinition> & Pick<AgentDefinition, "card">) => {
    const store = createMortalStore(memory);
    const agent = { execute: undefined, ...definition } as AgentDefinition; // its skills have code, or it has
    const harness = await createEngineHarness({ agent, store, clock, randomId: () => `id-${++ids}` });
    return {
      ...harness,
      kill: store.kill,
      warnings: () => harness.log.filter(({ level }) => level === "warn"),
    };
  };
}

const send = (words: string, skill?: string) =>
  detached(words, skill === undefined ? {} : lifecycle({ skill }));

const fateOf = (task: Task) => [
  task.status?.state,
  reasonOf(task),
  task.status?.message?.parts[0]?.content.value,
];

const gone = [
  TaskState.FAILED,
  "skill-removed",
  'The agent has no skill "dig" any more, so the task cannot go on. Its work so far stays done.',
];

describe("a task whose skill is gone after a restart", () => {
  it.each<[string, SkillDefinition]>([
    ["a durable executor was", paying([])],
    ["a turn was", turning],
    ["a turn that would be begun again was", restarted],
  ])("is FAILED when %s at work on it, and is not asked for again", async (_what, skill) => {
    const open = createProcesses();
    const first = await open({ card: { name: "Agent", skills: [skill, other] } });
    const { id } = await sendTask(first.client, send("go", "dig"));
    await first.clock.settle();
    first.kill();
    const next = await open({ card: { name: "Agent", skills: [other] } });
    await next.clock.settle();
    expect(fateOf(await next.client.getTask({ id }))).toEqual(gone);
    expect(next.warnings()).toEqual([
      { level: "warn", message: 'a task was failed, because its skill "dig" is gone', taskId: id },
    ]);
  });

  it("is FAILED by the answer that it waits for, whatever that is made of, and never REJECTED", async () => {
    const payments: string[] = [];
    const open = createProcesses();
    const first = await open({ card: { name: "Agent", skills: [paying(payments), other] } });
    const { id: taskId } = await sendTask(first.client, send("ask", "dig"));
    await first.clock.settle();
    expect(await stateOf(first.client, taskId)).toBe(TaskState.INPUT_REQUIRED);
    first.kill();
    const next = await open({ card: { name: "Agent", skills: [other] } });
    expect(await stateOf(next.client, taskId)).toBe(TaskState.INPUT_REQUIRED);
    const image = bytes(new Uint8Array([1]), { mediaType: "image/png" });
    const answered = await sendTask(next.client, say([image], { taskId }));
    expect(fateOf(answered)).toEqual(gone);
    expect([payments, next.warnings().length]).toEqual([["paid"], 1]);
  });

  it("is FAILED when its executor would have woken beside a question", async () => {
    const open = createProcesses();
    const waking: SkillDefinition = {
      ...dig,
      durable: true,
      async *execute(task) {
        const nap = task.sleep(60_000);
        yield* task.ask("how deep?");
        await nap;
      },
    };
    const first = await open({ card: { name: "Agent", skills: [waking, other] } });
    const { id } = await sendTask(first.client, send("go", "dig"));
    await first.clock.settle();
    first.kill();
    const next = await open({ card: { name: "Agent", skills: [other] } });
    await next.clock.advance(59_000);
    expect(await stateOf(next.client, id)).toBe(TaskState.INPUT_REQUIRED);
    await next.clock.advance(2_000);
    expect(fateOf(await next.client.getTask({ id }))).toEqual(gone);
  });

  it("is CANCELED when that was asked for before", async () => {
    const open = createProcesses();
    const first = await open({ card: { name: "Agent", skills: [turning, other] } });
    const { id } = await sendTask(first.client, send("go", "dig"));
    await first.clock.settle();
    void first.client.cancelTask({ id }).catch(() => {});
    await first.clock.settle();
    first.kill();
    const next = await open({ card: { name: "Agent", skills: [other] } });
    await next.clock.settle();
    expect(endOf(await next.client.getTask({ id }))).toEqual([TaskState.CANCELED, "canceled"]);
  });

  it("may still be canceled while it waits for an answer", async () => {
    const open = createProcesses();
    const first = await open({ card: { name: "Agent", skills: [paying([]), other] } });
    const { id } = await sendTask(first.client, send("ask", "dig"));
    await first.clock.settle();
    first.kill();
    const next = await open({ card: { name: "Agent", skills: [other] } });
    expect((await next.client.cancelTask({ id })).status?.state).toBe(TaskState.CANCELED);
  });
});

describe("a task without a skill", () => {
  it("is FAILED when its agent has no code of its own any more", async () => {
    const open = createProcesses();
    const first = await open({ card: { name: "Agent" }, ...paying([]) } as AgentDefinition);
    const { id } = await sendTask(first.client, send("go"));
    await first.clock.settle();
    first.kill();
    const next = await open({ card: { name: "Agent", skills: [other] } });
    await next.clock.settle();
    expect(fateOf(await next.client.getTask({ id }))).toEqual([
      TaskState.FAILED,
      "skill-removed",
      "The agent does no work without a skill any more, so the task cannot go on. Its work so far stays done.",
    ]);
  });
});
