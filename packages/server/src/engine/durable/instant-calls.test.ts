import { TaskState } from "@a2a-connect/proto";
import { reasonOf, say } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { beginDurable, createDurableServers } from "../../../test-support/durable-servers.ts";
import { sendTask, stateOf } from "../../../test-support/tasks.ts";
import type { DurableTask } from "../../index.ts";
import { defaultEngineLimits } from "../engine-context.ts";
import { maxInstantCalls } from "./instant-calls.ts";

const tools = {
  now: (task: DurableTask) => task.now(),
  random: (task: DurableTask) => task.random(),
  "inbox.poll": (task: DurableTask) => task.inbox.poll(),
};

describe("calls of a durable executor that return at once", () => {
  it.each([
    ["now", "call it once before the loop"],
    ["random", "use Math.random() in one task.step around the loop"],
    ["inbox.poll", "end the loop when it returns undefined, or await task.inbox.take()"],
  ] as const)("are too many without a wait: task.%s", async (tool, instead) => {
    let made = 0;
    const mistakes = new Set<unknown>();
    const { open } = createDurableServers(async function* (task) {
      yield task.working();
      for (let call = 0; call < maxInstantCalls + 100; call += 1) {
        try {
          tools[tool](task);
          made += 1;
        } catch (mistake) {
          mistakes.add(mistake);
        }
      }
      yield task.complete("done");
    });
    const { client } = await open();
    const { id, status } = await sendTask(client);
    expect(status?.message?.parts[0]?.content.value).toBe(
      `the executor has called task.now, task.random and task.inbox.poll 50000 times without a wait, and then task.${tool}: ${instead}`,
    );
    expect(reasonOf(await client.getTask({ id }))).toBe("invalid-agent-response");
    expect([made, mistakes.size]).toEqual([50_000, 1]);
  });

  it("are not too many with waits in between, nor when they are repeated after a restart", async () => {
    const sums: number[] = [];
    const servers = createDurableServers(async function* (task) {
      const add = (count: number) => {
        let sum = 0;
        for (let call = 0; call < count; call += 1) sum += task.random();
        sums.push(sum);
      };
      for (let round = 0; round < 4; round += 1) {
        add(maxInstantCalls / 2);
        yield task.append("rounds", `${round};`);
      }
      yield* task.ask("More?");
      add(maxInstantCalls);
      await task.step("wait", () => undefined);
      add(maxInstantCalls);
      yield task.complete("done");
    });
    const first = await servers.open();
    const { id } = await sendTask(first.client);
    const before = sums.splice(0);
    first.kill();
    const second = await servers.open();
    const { status } = await sendTask(second.client, say("yes", { taskId: id }));
    expect(status?.state).toBe(TaskState.COMPLETED);
    expect([before.length, sums.length]).toEqual([4, 6]);
    expect(sums.slice(0, 4)).toEqual(before);
    expect(second.log).toEqual([]);
  });

  it("fill the journal as memory: the task ends there, also when its code catches the error", async () => {
    let made = 0;
    const words: string[] = [];
    const { process, id, journal } = await beginDurable(
      async function* (task) {
        yield task.working();
        try {
          for (; made < 1_000; made += 1) task.random();
        } catch (error) {
          words.push(String(error));
        }
        await task.step("go on", () => undefined).catch(() => {});
        yield* task.ask("More?");
      },
      { limits: { ...defaultEngineLimits, maxTaskBytes: 100_000 } },
    );
    expect(await stateOf(process.client, id)).toBe(TaskState.FAILED);
    const full = "the journal of this task would take more than 100000 bytes of memory";
    expect(words).toEqual([`JournalError: ${full}`]);
    expect(String(process.log[0]?.error)).toBe(words[0]);
    expect([made, (await journal(id)).length]).toEqual([410, 410]);
  });
});
