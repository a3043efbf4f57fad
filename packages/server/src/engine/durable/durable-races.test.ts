import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createFakeClock, say, wordsOf } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { createDurableServers } from "../../../test-support/durable-servers.ts";
import { createHeldStore } from "../../../test-support/held-store.ts";
import { detached, endOf, lifecycle, sendTask, stateOf } from "../../../test-support/tasks.ts";
import type { AgentDefinition, DurableExecutor } from "../../agent/agent-definition.ts";
import { decodeEvent } from "../task-log.ts";

/** What the model test (test/model) has found, each in its smallest form. */
async function durable(execute: DurableExecutor) {
  const store = createHeldStore();
  const clock = createFakeClock();
  const agent: AgentDefinition = {
    card: {
      name: "Agent",
      skills: [{ id: "work", name: "work", description: "works", durable: true, execute }],
    },
    route: () => "work",
  };
  const open = () => createEngineHarness({ agent, store, clock });
  const statesOf = async (taskId: string) => {
    const events = await store.events({ tenant: "", principal: "anonymous" }, taskId, 0, 100);
    return wordsOf(events.map(decodeEvent));
  };
  return { store, clock, open, statesOf };
}

describe("a durable executor", () => {
  it("is given an answer once, also when a cancel has called it back while the answer was written", async () => {
    const { store, clock, open, statesOf } = await durable(async function* (task) {
      yield* task.ask({ text: "Which?", choices: ["this", "that"] });
    });
    const { client } = await open();
    const { id } = await sendTask(client);
    await clock.advance(40_000); // dropped
    store.hold();
    const answer = client.sendMessage(detached("neither", { taskId: id, messageId: "m2" }));
    await clock.settle();
    const cancel = client.cancelTask({ id });
    await clock.settle();
    store.release();
    await Promise.all([answer, cancel]);
    // The answer does not fit, so that there is a second question; that one has no answer.
    expect(await statesOf(id)).toEqual([
      "task submitted",
      "input-required",
      "working",
      "input-required",
      "canceled",
    ]);
  });

  it("does a step anew that has obeyed the server's shutdown", async () => {
    const attempts: string[] = [];
    const { clock, open } = await durable(async function* (task) {
      await task.step("slow", ({ signal }) => {
        attempts.push("begun");
        return new Promise<void>((resolve, reject) => {
          clock.schedule(5_000, resolve);
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      });
      yield task.artifact({ id: "result", text: "done" });
    });
    const first = await open();
    const { id } = await sendTask(first.client, detached());
    await clock.settle();
    const stopped = first.server.stop(0);
    await clock.advance(0);
    await stopped;
    const second = await open();
    await clock.advance(10_000);
    expect(await stateOf(second.client, id)).toBe(TaskState.COMPLETED);
    expect(attempts).toEqual(["begun", "begun"]);
  });

  it("is canceled when its deadline is over before it begins, also where nothing may begin", async () => {
    const { open } = await durable(async function* (task) {
      yield task.working();
    });
    const { client, server, clock } = await open();
    server.skills.disable("work");
    const deadline = new Date(clock.now() - 1).toISOString();
    expect(endOf(await sendTask(client, say("go", lifecycle({ deadline }))))).toEqual([
      TaskState.CANCELED,
      "deadline",
    ]);
  });

  it("goes on when the commit of one result takes longer than anything else, beside another that is due", async () => {
    const { store, clock, open } = await durable(async function* (task) {
      const work = () => new Promise<void>((resolve) => void clock.schedule(50, resolve));
      await Promise.all([task.step("slow to store", work), task.sleep(150)]);
      yield task.artifact({ id: "result", text: "done" });
    });
    const { client, log } = await open();
    const { id } = await sendTask(client, detached());
    await clock.settle();
    store.hold();
    await clock.advance(120_000);
    store.release();
    await clock.settle();
    expect([await stateOf(client, id), log]).toEqual([TaskState.COMPLETED, []]);
  });

  it("goes on when its earlier events take longer to read than anything else, beside a result that is due", async () => {
    const { store, clock, open } = await durable(async function* (task) {
      const beside = task.step(
        "beside",
        () => new Promise<void>((resolve) => void clock.schedule(50, resolve)),
      );
      yield task.working("one");
      yield task.working("two");
      await beside;
      yield* task.ask("Which?");
    });
    const first = await open();
    const { id } = await sendTask(first.client, detached());
    await clock.advance(100_000); // dropped
    const { events } = store;
    const slow = async (...which: Parameters<typeof events>) => {
      await new Promise<void>((resolve) => void clock.schedule(61_000, resolve));
      return events(...which);
    };
    Object.assign(store, { events: slow });
    await first.client.sendMessage(detached("this", { taskId: id }));
    await clock.advance(600_000);
    expect(endOf(await first.client.getTask({ id }))).toEqual([TaskState.COMPLETED, undefined]);
  });

  for (const tool of ["now", "random"] as const) {
    for (const death of [
      { commit: 1, written: true },
      { commit: 2, written: false },
    ]) {
      it(`may ask for ${tool} behind one of several steps, also when a crash loses what it was: ${JSON.stringify(death)}`, async () => {
        const { open, clock } = createDurableServers(async function* (task) {
          const values = [1, 2, 3].map(async (value) => {
            await task.step("look up", () => value);
            return task[tool]();
          });
          await Promise.all(values);
          yield task.complete("done");
        });
        const first = await open(death);
        void first.client.sendMessage(detached()).catch(() => {}); // the process dies meanwhile
        await clock.settle();
        expect(first.dead).toBe(true);
        const { client } = await open();
        await clock.settle();
        const { tasks } = await client.listTasks({});
        expect(tasks.map(({ status }) => status?.state)).toEqual([TaskState.COMPLETED]);
      });
    }
  }
});
