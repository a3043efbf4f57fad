import { TaskState } from "@a2a-connect/proto";
import { say, taskOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { createDurableServers } from "../../../test-support/durable-servers.ts";
import { detached, endOf, sendTask, stateOf } from "../../../test-support/tasks.ts";

describe("a durable executor", () => {
  it("does each step once, over restarts, and goes on where it was", async () => {
    const calls: string[] = [];
    const call = <Result>(name: string, result: Result) => {
      calls.push(name);
      return result;
    };
    const { clock, open } = createDurableServers(async function* (task) {
      const began = task.now();
      const one = await task.step("one", () => call("one", began));
      yield task.append("log", `one ${one}`);
      const { text } = yield* task.ask("Which?");
      yield task.append("log", `answer ${text}`);
      await task.sleep(60_000);
      yield task.append("log", await task.step("two", () => call("two", "two")), { last: true });
    });
    const first = await open();
    const asked = await sendTask(first.client);
    expect(asked.status?.state).toBe(TaskState.INPUT_REQUIRED);
    await first.server.stop(0);
    const second = await open();
    const answer = second.client.sendMessage(say("that", { taskId: asked.id }));
    await clock.settle();
    expect(await stateOf(second.client, asked.id)).toBe(TaskState.WORKING);
    await clock.advance(40_000); // it is dropped meanwhile
    await clock.advance(20_000);
    const done = taskOf(await answer);
    expect(done.status?.state).toBe(TaskState.COMPLETED);
    expect(calls).toEqual(["one", "two"]);
    expect(done.artifacts[0]?.parts.map(({ content }) => content.value)).toEqual([
      `one ${Date.UTC(2026, 0, 1)}`,
      "answer that",
      "two",
    ]);
    expect(second.log).toEqual([]);
  });

  it("goes on after a restart in the middle of a sleep", async () => {
    const { clock, open } = createDurableServers(async function* (task) {
      yield task.working("one");
      await task.sleep(500);
      yield task.working("two");
      await task.sleep(5_000);
      yield task.working("three");
    });
    const first = await open();
    const { id } = await sendTask(first.client, detached());
    await clock.advance(2_000);
    await first.server.stop(0);
    const second = await open();
    await clock.advance(3_500);
    const task = await second.client.getTask({ id });
    expect([task.status?.state, second.log]).toEqual([TaskState.COMPLETED, []]);
  });

  it("fails with journal-diverged when it does something else", async () => {
    let isOld = true;
    const { clock, open } = createDurableServers(async function* (task) {
      yield isOld ? task.artifact({ id: "a", text: "1" }) : task.artifact({ id: "b", text: "1" });
      await task.sleep(5_000);
    });
    const first = await open();
    const { id } = await sendTask(first.client, detached());
    await clock.settle();
    await first.server.stop(0);
    isOld = false;
    const second = await open();
    await clock.settle();
    const task = await second.client.getTask({ id });
    expect(endOf(task)).toEqual([TaskState.FAILED, "journal-diverged"]);
    expect(task.status?.message?.parts[0]?.content.value).toContain("event 2");
  });

  it("hears a cancel in its sleep, cleans up, and does so after a restart, too", async () => {
    const done: string[] = [];
    const { clock, open } = createDurableServers(async function* (task) {
      yield task.working();
      try {
        await task.sleep(3_600_000);
      } catch (error) {
        await task.step("undo", () => done.push(`undone: ${(error as Error).message}`));
        throw error;
      }
    });
    const first = await open();
    const send = async () => await sendTask(first.client, detached());
    const one = await send();
    await clock.settle();
    const canceled = await first.client.cancelTask({ id: one.id });
    expect(endOf(canceled)).toEqual([TaskState.CANCELED, "canceled"]);
    const other = await send();
    await clock.advance(40_000); // dropped
    await first.client.cancelTask({ id: other.id });
    expect(done).toEqual(["undone: the task was canceled", "undone: the task was canceled"]);
  });
});
