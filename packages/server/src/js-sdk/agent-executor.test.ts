import { setImmediate as nextTurn } from "node:timers/promises";
import { Role, TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createTurnCount, say } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { countedPart } from "../../test-support/counted-data.ts";
import { detached, sendTask, subscribe } from "../../test-support/tasks.ts";
import { fromAgentExecutor } from "./agent-executor.ts";
import type { EventBus } from "./event-bus.ts";
import type { SdkEvent, SdkTask } from "./sdk-types.ts";

it("a task with much data is converted in several turns of the event loop", async () => {
  const reads = createTurnCount();
  let isCounting = false;
  const lengths: (number | undefined)[] = [];
  const executor = {
    async execute({ task }: { readonly task?: SdkTask }, bus: { publish(event: SdkEvent): void }) {
      lengths.push(task?.history?.length);
      bus.publish({ kind: "statusUpdate", data: { status: { state: TaskState.INPUT_REQUIRED, message } } });
    },
    async cancelTask() {},
  };
  const { client } = await createEngineHarness({
    agent: { card: { name: "Agent" }, execute: fromAgentExecutor(executor as never) },
  });
  const send = (taskId: string) =>
    sendTask(client, say([countedPart(() => isCounting && reads.count())], { taskId }));
  const { id } = await send("");
  const reader = subscribe(client, id); // keeps the task in memory, with the messages as they are sent
  for (let message = 0; message < 20; message++) await send(id);
  isCounting = true;
  await sendTask(client, say("and now", { taskId: id }));
  reader.hangUp();
  expect(lengths.at(-1)).toBe(43); // with the questions
  expect(reads.total).toBeGreaterThanOrEqual(20);
  expect(reads.mostInATurn).toBeLessThan(5);
});

it("what many executors publish at the same moment is converted in turns of the event loop", async () => {
  const converted = createTurnCount();
  const moment = Promise.withResolvers<void>();
  const executor = {
    async execute(_context: unknown, bus: { publish(event: SdkEvent): void }) {
      bus.publish({ kind: "statusUpdate", data: { status: { state: TaskState.WORKING } } });
      await moment.promise;
      const names = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`name ${at}`, at]));
      const last = {
        get number() {
          converted.count();
          return 1;
        },
      };
      const value = [names, last]; // the second one is not weighed
      const parts = [{ content: { $case: "data" as const, value } }];
      bus.publish({ kind: "artifactUpdate", data: { artifact: { artifactId: "a", parts } } });
    },
    async cancelTask() {},
  };
  const { client, clock } = await createEngineHarness({
    agent: { card: { name: "Agent" }, execute: fromAgentExecutor(executor as never) },
  });
  for (let task = 0; task < 50; task += 1) await sendTask(client, detached("go"));
  moment.resolve();
  while (converted.total < 50) {
    await nextTurn();
    await clock.settle();
  }
  expect(converted.mostInATurn).toBeLessThan(10);
});

it("a list that stands in the data of many parts is converted once", async () => {
  let visits = 0;
  const list = new Proxy(Array(1_000).fill(0), {
    get(target, name, receiver) {
      visits += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  const parts = Array.from({ length: 100 }, (_, n) => ({
    content: { $case: "data" as const, value: { n, list } },
  }));
  const executor = {
    async execute(_context: unknown, bus: { publish(event: SdkEvent): void }) {
      bus.publish({ kind: "artifactUpdate", data: { artifact: { artifactId: "a", parts } } });
    },
    async cancelTask() {},
  };
  const { client } = await createEngineHarness({
    agent: { card: { name: "Agent" }, execute: fromAgentExecutor(executor as never) },
  });
  const task = await sendTask(client);
  expect(task.artifacts[0]?.parts).toHaveLength(100);
  expect(visits).toBeLessThan(5_000);
});

describe("what ends no process, although code of the executor throws", () => {
  const broken = (): never => {
    throw new Error("broken");
  };

  /** An agent whose executor works until it is told to stop. */
  async function startAgent(cancelTask: (taskId: string, bus: EventBus) => void, onFinished = () => {}) {
    const executor = {
      async execute(_context: never, bus: EventBus) {
        bus.on("finished", onFinished);
        bus.publish({ kind: "statusUpdate", data: { status: { state: TaskState.WORKING } } });
        await new Promise<void>((resolve) => bus.on("finished", () => resolve()));
      },
      cancelTask,
    };
    const { client } = await createEngineHarness({
      agent: { card: { name: "Agent" }, execute: fromAgentExecutor(executor as never) },
    });
    const { id } = await sendTask(client, detached());
    return { client, id };
  }

  for (const [what, cancelTask] of [
    ["returns no promise", (bus: EventBus) => bus.finished()],
    ["throws at once", broken],
    ["rejects", async () => broken()],
  ] as const) {
    it(`a cancelTask that ${what}`, async () => {
      const asked: string[] = [];
      const { client, id } = await startAgent((taskId, bus) => {
        asked.push(taskId);
        return cancelTask(bus);
      });
      expect((await client.cancelTask({ id })).status?.state).toBe(TaskState.CANCELED);
      expect(asked).toEqual([id]);
    });
  }

  it("a listener of the end", async () => {
    const { client, id } = await startAgent(async () => broken(), broken);
    expect((await client.cancelTask({ id })).status?.state).toBe(TaskState.CANCELED);
  });
});

const ids = { messageId: "question", taskId: "", contextId: "" };
const message = {
  ...ids,
  role: Role.AGENT,
  parts: [{ content: { $case: "text" as const, value: "More?" } }],
  extensions: [],
  referenceTaskIds: [],
};
