import { setImmediate as nextTurn } from "node:timers/promises";
import { lifecycleExtension, text } from "@a2a-connect/core";
import { toJsonValue } from "@a2a-connect/core/internal";
import { ArtifactSchema, MessageSchema, Role, TaskSchema, TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createTurnCount, say } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it, vi } from "vitest";
import { countedPart } from "../../test-support/counted-data.ts";
import { detached, sendTask, subscribe } from "../../test-support/tasks.ts";
import { LiveTask } from "../engine/live-task.ts";
import { fromAgentExecutor } from "./agent-executor.ts";
import type { EventBus } from "./event-bus.ts";
import type { SdkEvent, SdkMessage, SdkTask } from "./sdk-types.ts";

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

it("a caller without credentials waits for the slices of its own address, not for those of another one", async () => {
  const converted = { busy: 0, quiet: 0 };
  const busyBefore: number[] = [];
  const moment = Promise.withResolvers<void>();
  const names = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`name ${at}`, at]));
  const executor = {
    async execute({ userMessage }: { userMessage: SdkMessage }, bus: { publish(event: SdkEvent): void }) {
      const caller = userMessage.parts.length > 1 ? "quiet" : "busy";
      if (caller === "quiet") busyBefore.push(converted.busy);
      bus.publish({ kind: "statusUpdate", data: { status: { state: TaskState.WORKING } } });
      if (caller === "busy") await moment.promise;
      const last = {
        get number() {
          converted[caller] += 1;
          if (caller === "quiet") busyBefore.push(converted.busy);
          return 1;
        },
      };
      const parts = [{ content: { $case: "data" as const, value: [names, last] } }]; // the second one is not weighed
      bus.publish({ kind: "artifactUpdate", data: { artifact: { artifactId: "a", parts } } });
    },
    async cancelTask() {},
  };
  const { clientFrom, clock } = await createEngineHarness({
    agent: { card: { name: "Agent" }, execute: fromAgentExecutor(executor as never) },
  });
  const busy = clientFrom("192.0.2.1");
  for (let task = 0; task < 100; task += 1) await sendTask(busy, detached("go"));
  moment.resolve();
  await nextTurn();
  const long = [text("go"), text("x".repeat(20_000))]; // converted in a slice of its own
  await Promise.all([sendTask(clientFrom("198.51.100.7"), say(long)), clock.settle()]);
  expect(busyBefore).toHaveLength(2);
  expect(Math.max(...busyBefore)).toBeLessThan(50);
  expect(converted.quiet).toBe(1);
  while (converted.busy < 100) {
    await nextTurn();
    await clock.settle();
  }
});

it("an executor may use the objects of an event for its next one, when what they have is no long data", async () => {
  const contents = {
    text: { $case: "text" as const, value: "" },
    data: { $case: "data" as const, value: { name: "" } },
  };
  const artifact = { artifactId: "a", parts: [{ content: contents.text }, { content: contents.data }] };
  const data = { append: false, artifact };
  const event: SdkEvent = { kind: "artifactUpdate", data };
  const executor = {
    async execute(_context: unknown, bus: { publish(event: SdkEvent): void }) {
      for (const name of "ABCDEFGH") {
        contents.text.value = name.repeat(7_000);
        contents.data.value.name = name;
        bus.publish(event);
        data.append = true;
      }
    },
    async cancelTask() {},
  };
  const { client } = await createEngineHarness({
    agent: { card: { name: "Agent" }, execute: fromAgentExecutor(executor as never) },
  });
  const [chunks] = (await sendTask(client)).artifacts;
  const shown = chunks?.parts.map(({ content }) => {
    return content.case === "data" ? toJsonValue(content.value) : String(content.value).slice(0, 1);
  });
  expect(shown).toEqual([..."ABCDEFGH"].flatMap((name) => [name, { name }]));
});

it("what is no JSON fails the task, behind what was published before", async () => {
  for (const value of [10n, [10n, "x".repeat(5_000)], undefined]) {
    const executor = {
      async execute(_context: unknown, bus: { publish(event: SdkEvent): void }) {
        for (const [artifactId, content] of [
          ["good", { $case: "text" as const, value: "x" }],
          ["bad", { $case: "data" as const, value }],
        ] as const) {
          bus.publish({ kind: "artifactUpdate", data: { artifact: { artifactId, parts: [{ content }] } } });
        }
      },
      async cancelTask() {},
    };
    const { client } = await createEngineHarness({
      agent: { card: { name: "Agent" }, execute: fromAgentExecutor(executor as never) },
    });
    const { status, artifacts } = await sendTask(client);
    expect([status?.state, artifacts.map(({ artifactId }) => artifactId)]).toEqual([
      TaskState.FAILED,
      ["good"],
    ]);
  }
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

it.each([
  ["the last one is", [false, false, true], { size: 3, replaceable: true, sha256: expect.any(String) }],
  ["each one is", [true, true, true], { replaceable: true }],
  ["an earlier one is", [false, true, false], { replaceable: true }],
])("chunks are sealed together once, where %s marked as the last", async (_, marks, seal) => {
  const partsRead = async (chunks: number): Promise<number> => {
    const artifactParts = vi.spyOn(LiveTask.prototype, "artifactParts");
    const executor = {
      async execute(_context: unknown, bus: { publish(event: SdkEvent): void }) {
        for (const mark of marks) {
          for (let at = 0; at < chunks; at += 1) {
            const artifact = {
              artifactId: "a",
              parts: [{ content: { $case: "text" as const, value: "x" } }],
            };
            const lastChunk = mark && (marks.indexOf(false) === -1 || at === chunks - 1);
            bus.publish({ kind: "artifactUpdate", data: { artifact, append: true, lastChunk } });
          }
        }
      },
      async cancelTask() {},
    };
    const { client } = await createEngineHarness({
      agent: { card: { name: "Agent" }, execute: fromAgentExecutor(executor as never) },
    });
    const { artifacts } = await sendTask(client);
    expect(artifacts[0]?.parts).toHaveLength(marks.length * chunks);
    if (chunks === 1) expect(artifacts[0]?.metadata).toEqual({ [lifecycleExtension]: seal });
    const read = await Promise.all(artifactParts.mock.results.map(({ value }) => value));
    artifactParts.mockRestore();
    return read.reduce((sum, { length }) => sum + length, 0);
  };
  const [one, many] = [await partsRead(1), await partsRead(50)];
  expect(many).toBeLessThanOrEqual(50 * (one + 1));
});

it("a task that is published costs what it weighs, however many artifacts there were before the turn", async () => {
  const readsFor = async (published: number): Promise<number> => {
    let reads = 0;
    const artifacts = new Proxy([create(ArtifactSchema, { artifactId: "a" })], {
      get(target, name, receiver) {
        reads += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    const turn = {
      message: create(MessageSchema),
      task: { ...create(TaskSchema), artifacts },
      caller: { principal: "anonymous" },
      extensions: [],
      acceptedOutputModes: [],
      signal: new AbortController().signal,
    };
    const executor = {
      async execute(_context: unknown, bus: { publish(event: SdkEvent): void }) {
        for (let at = 0; at < published; at += 1)
          bus.publish({ kind: "task", data: { id: "t", contextId: "c" } });
      },
      async cancelTask() {},
    };
    for await (const event of fromAgentExecutor(executor as never)(turn as never))
      expect(event).toBeUndefined();
    return reads;
  };
  expect(await readsFor(100)).toBe(await readsFor(1));
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
