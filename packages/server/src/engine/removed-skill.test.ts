import { bytes } from "@a2a-connect/core";
import { type Task, TaskState } from "@a2a-connect/proto";
import {
  createEngineHarness,
  createFakeClock,
  type EngineHarness,
  reasonOf,
  say,
} from "@a2a-connect/testing";
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

/** A task of a skill whose process is killed; the next process has another skill only. */
async function outlive(
  skill: SkillDefinition,
  words = "go",
  before: (client: EngineHarness["client"], id: string) => unknown = () => {},
) {
  const open = createProcesses();
  const first = await open({ card: { name: "Agent", skills: [skill, other] } });
  const { id } = await sendTask(first.client, send(words, "dig"));
  await first.clock.settle();
  await before(first.client, id);
  await first.clock.settle();
  first.kill();
  return { id, ...(await open({ card: { name: "Agent", skills: [other] } })) };
}

describe("a task whose skill is gone after a restart", () => {
  it.each<[string, SkillDefinition]>([
    ["a durable executor was", paying([])],
    ["a turn was", turning],
    ["a turn that would be begun again was", restarted],
  ])("is FAILED when %s at work on it, and is not asked for again", async (_what, skill) => {
    const { id, client, clock, warnings } = await outlive(skill);
    await clock.settle();
    expect(fateOf(await client.getTask({ id }))).toEqual(gone);
    expect(warnings()).toEqual([
      { level: "warn", message: 'a task was failed, because its skill "dig" is gone', taskId: id },
    ]);
  });

  it("is FAILED by the answer that it waits for, whatever that is made of, and never REJECTED", async () => {
    const payments: string[] = [];
    const asks = async (client: EngineHarness["client"], id: string) =>
      expect(await stateOf(client, id)).toBe(TaskState.INPUT_REQUIRED);
    const { id: taskId, client, warnings } = await outlive(paying(payments), "ask", asks);
    await asks(client, taskId);
    const image = bytes(new Uint8Array([1]), { mediaType: "image/png" });
    const answered = await sendTask(client, say([image], { taskId }));
    expect(fateOf(answered)).toEqual(gone);
    expect([payments, warnings().length]).toEqual([["paid"], 1]);
  });

  it("is FAILED when its executor would have woken beside a question", async () => {
    const waking: SkillDefinition = {
      ...dig,
      durable: true,
      async *execute(task) {
        const nap = task.sleep(60_000);
        yield* task.ask("how deep?");
        await nap;
      },
    };
    const { id, client, clock } = await outlive(waking);
    await clock.advance(59_000);
    expect(await stateOf(client, id)).toBe(TaskState.INPUT_REQUIRED);
    await clock.advance(2_000);
    expect(fateOf(await client.getTask({ id }))).toEqual(gone);
  });

  it("is CANCELED when that was asked for before", async () => {
    const { id, client, clock } = await outlive(turning, "go", (before, taskId) => {
      void before.cancelTask({ id: taskId }).catch(() => {});
    });
    await clock.settle();
    expect(endOf(await client.getTask({ id }))).toEqual([TaskState.CANCELED, "canceled"]);
  });

  it("may still be canceled while it waits for an answer", async () => {
    const { id, client } = await outlive(paying([]), "ask");
    expect((await client.cancelTask({ id })).status?.state).toBe(TaskState.CANCELED);
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
