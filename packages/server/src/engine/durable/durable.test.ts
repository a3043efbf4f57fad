import { TaskState } from "@a2a-connect/proto";
import { say, taskOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { createDurableServers } from "../../../test-support/durable-servers.ts";
import { detached, sendTask, stateOf } from "../../../test-support/tasks.ts";

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
});
