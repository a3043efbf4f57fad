import { setImmediate as nextTurn } from "node:timers/promises";
import { nextSlice } from "@a2a-connect/bindings/server";
import { json, text } from "@a2a-connect/core";
import { SharedBudget } from "@a2a-connect/core/internal";
import { type StreamResponse, StreamResponseSchema, TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createFakeClock } from "@a2a-connect/testing";
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { describe, expect, it, vi } from "vitest";
import { detached, sendTask } from "../../test-support/tasks.ts";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import { type ArtifactInit, createArtifactTool } from "../agent/task-tools.ts";
import { AgentMistake } from "./agent-mistake.ts";
import { OutputRoom } from "./capacity/output-room.ts";
import { Emitter } from "./emitter.ts";
import type { LiveTask } from "./live-task.ts";

const rows = Array.from({ length: 1_000 }, (_, at) => ({ name: `row ${at}` }));

it.each([
  ["artifacts of turns", false, "artifact"],
  ["last messages of turns", false, "complete"],
  ["artifacts of durable tasks", true, "artifact"],
  ["last messages of durable tasks", true, "complete"],
] as const)(
  "%s are taken a few in a turn of the event loop, when hundreds have waited for the same",
  async (_, durable, kind) => {
    const fake = createFakeClock();
    let ticks = 0;
    const clock = { ...fake, ticks: () => ticks };
    const moment = Promise.withResolvers<void>();
    const execute = async function* (tools: Parameters<NonNullable<AgentDefinition["execute"]>>[0]) {
      yield tools.working();
      await moment.promise;
      if (kind === "artifact") yield tools.artifact({ data: rows });
      else yield tools.complete([json(rows)]);
    };
    const agent: AgentDefinition = durable
      ? { card: { name: "Agent" }, durable, execute: (task) => execute(task as never) }
      : { card: { name: "Agent" }, execute };
    const { client } = await createEngineHarness({ agent, clock });
    for (let sent = 0; sent < 100; sent += 1) await client.sendMessage(detached("go"));
    await fake.settle();

    let [inTurn, most, taken] = [0, 0, 0];
    const count = () => {
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      [inTurn, taken] = [inTurn + 1, taken + 1];
      most = Math.max(most, inTurn);
      ticks += 3; // it takes so long
    };
    const { artifact, status } = Emitter.prototype;
    vi.spyOn(Emitter.prototype, "artifact").mockImplementation(function (this: Emitter, event) {
      count();
      return artifact.call(this, event);
    });
    vi.spyOn(Emitter.prototype, "status").mockImplementation(function (this: Emitter, event) {
      count();
      status.call(this, event);
    });
    moment.resolve();
    await fake.settle();
    expect(taken).toBe(100);
    expect(most).toBeLessThan(50);
  },
);

it("data that is nested too deep is refused at the yield", async () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const mistakes: string[] = [];
  const agent: AgentDefinition = {
    card: { name: "Agent" },
    async *execute(turn) {
      for (const put of [{ data: cyclic as never }, { text: "x", metadata: cyclic as never }]) {
        try {
          yield turn.artifact({ id: "a", ...put });
        } catch (error) {
          mistakes.push((error as Error).message);
        }
      }
      yield turn.complete("done");
    },
  };
  const { client } = await createEngineHarness({ agent });
  expect((await sendTask(client)).status?.state).toBe(TaskState.COMPLETED);
  expect(mistakes).toEqual(Array(2).fill('artifact "a" has JSON that is nested deeper than 100 levels'));
});

const numbers = Array.from({ length: 10_000 }, (_, n) => n);

/** What an emitter needs of its task. */
function createTask() {
  const memory = new SharedBudget({ max: 1e9, maxShare: 1, refuse: () => new Error("full") }).open("alice");
  const { promise: hasRoom, resolve: makeRoom } = Promise.withResolvers<void>();
  const context = {
    wakes: { executors: { turn: () => hasRoom } },
    memoryTurns: { areDue: () => false, end: () => {} },
  };
  const output = new OutputRoom(context as never, { isFull: false, flushed: async () => {} }, memory);
  /** What memory was counted for each event that the task got. */
  const emitted: number[] = [];
  const emitArtifact = (event: StreamResponse) => {
    toJson(StreamResponseSchema, event); // the JSON wires can show it
    emitted.push(memory.amount);
  };
  let isOpen = true;
  const end = () => {
    isOpen = false;
  };
  const assertOpen = () => {
    if (!isOpen) throw new AgentMistake("the task has ended");
  };
  const wasSealed = () => false;
  const live = { memory, output, name: {}, emitArtifact, assertOpen, wasSealed };
  const waitForSlice = vi.fn((caller: string | undefined, hasBegun?: "has begun") =>
    nextSlice(caller, hasBegun),
  );
  const emitter = new Emitter(["*/*"], 20_000_000, () => live as unknown as LiveTask, waitForSlice);
  return { emitter, memory, emitted, makeRoom, end, waitForSlice };
}

const create = (init: ArtifactInit) => createArtifactTool(() => 1)(init);

/** Data of much JSON that calls `onRead` each time it is read. */
function createData(onRead: () => void): JsonObject {
  return {
    get numbers() {
      onRead();
      return numbers;
    },
  };
}

it.each<readonly [what: string, init: ArtifactInit, slices: number]>([
  ["data", { data: { numbers } }, 2],
  ["a part", { parts: [json({ numbers })] }, 2],
  ["metadata", { text: "x", metadata: { numbers } }, 2],
  ["metadata of a part", { parts: [text("x", { metadata: { numbers } })] }, 2],
  ["a table of 200 rows", { data: Array(200).fill(Array(10).fill(1)) }, 0],
  ["no JSON", { text: "x".repeat(1_000_000) }, 0],
])("a large artifact with %s waits for as many slices as it takes", async (_, init, slices) => {
  const { emitter, makeRoom, waitForSlice } = createTask();
  makeRoom();
  await emitter.artifact(create({ ...init, last: false }));
  expect(waitForSlice).toHaveBeenCalledTimes(slices);
});

it("only the first piece of a text that is sealed waits behind what its caller has begun", async () => {
  const { emitter, makeRoom, waitForSlice } = createTask();
  makeRoom();
  await emitter.artifact(create({ parts: Array(4).fill(text("x".repeat(150_000))), last: true }));
  const [first, ...further] = waitForSlice.mock.calls.map(([, hasBegun]) => hasBegun);
  expect(first).toBe(undefined);
  expect(further.length).toBeGreaterThanOrEqual(2);
  expect(new Set(further)).toEqual(new Set(["has begun"]));
});

it("texts that are sealed at the same moment are copied for one artifact after the other", async () => {
  const parts = Array.from({ length: 10 }, (_, part) => text(String(part).repeat(150_000)));
  const tasks = Array.from({ length: 10 }, () => createTask());
  let [held, most] = [0, 0];
  const { encode } = TextEncoder.prototype;
  using encoding = vi.spyOn(TextEncoder.prototype, "encode").mockImplementation(function (
    this: TextEncoder,
    given,
  ) {
    const bytes = encode.call(this, given);
    held += bytes.length;
    most = Math.max(most, held);
    return bytes;
  });
  using _digest = vi.spyOn(crypto.subtle, "digest").mockResolvedValue(new ArrayBuffer(32)); // a thread takes any time
  const sealing = tasks.map(async ({ emitter, makeRoom }) => {
    makeRoom();
    await emitter.artifact(create({ parts, last: true }));
    held -= 1_500_000;
  });
  await Promise.all(sealing);
  expect(encoding).toHaveBeenCalledTimes(100);
  expect(most).toBeLessThanOrEqual(3_000_000); // the digest of one, and the pieces of the next
});

it("an artifact is not converted when its task has ended while it waited", async () => {
  const { emitter, memory, emitted, makeRoom, end } = createTask();
  let reads = 0;
  const data = createData(() => {
    reads += 1;
  });
  const taking = emitter.artifact(create({ data }));
  end();
  makeRoom();
  await expect(taking).rejects.toThrow("the task has ended");
  expect([reads, emitted, memory.amount]).toEqual([1, [], 0]);
});

it("an artifact is encoded before the next one of its caller is converted", async () => {
  const order: string[] = [];
  const names = ["one", "another", "third"];
  const taking = names.map(async (name) => {
    const { emitter, makeRoom } = createTask();
    makeRoom();
    let reads = 0;
    const data = createData(() => {
      reads += 1;
      if (reads === 3) order.push(`${name} is converted`); // it is checked twice before
    });
    await emitter.artifact(create({ data, last: false }));
    order.push(`${name} is encoded`);
  });
  await Promise.all(taking);
  expect(order).toEqual(names.flatMap((name) => [`${name} is converted`, `${name} is encoded`]));
});

describe("an artifact that its executor changes after the yield", () => {
  const manyNames = Object.fromEntries(Array.from({ length: 100_001 }, (_, n) => [`n${n}`, n]));

  describe.each([true, false])("last: %s", (last) => {
    it.each<readonly [what: string, change: JsonObject, why: string]>([
      ["a number that JSON cannot hold", { ratio: Number.NaN }, "NaN or infinite"],
      ["too many names", manyNames, "more than 100000 names"],
      [
        "more bytes than a task may have",
        { words: "x".repeat(20_000_000) },
        "takes more than 20000000 bytes",
      ],
    ])("is refused: %s", async (_, change, why) => {
      const { emitter, memory, emitted, makeRoom } = createTask();
      const data: JsonObject = { numbers };
      const taking = emitter.artifact(create({ data, last }));
      Object.assign(data, change);
      makeRoom();
      await expect(taking).rejects.toThrow(AgentMistake);
      await expect(taking).rejects.toThrow(why);
      expect([emitted, memory.amount]).toEqual([[], 0]);
    });

    it("is stored only where JSON can hold it, whenever that happens", async () => {
      for (let turns = 0; turns < 16; turns += 1) {
        const { emitter, makeRoom } = createTask();
        makeRoom();
        const metadata: JsonObject = { numbers };
        const details: JsonObject = { numbers };
        const parts = [text("x", { metadata: { details } })];
        const taking = emitter.artifact(create({ parts, metadata: { metadata }, last }));
        const taken = taking?.then(
          () => undefined,
          (error: unknown) => error,
        );
        for (let turn = 0; turn < turns; turn += 1) await nextTurn();
        Object.assign(turns % 2 === 0 ? metadata : details, { ratio: Number.NaN });
        expect([undefined, expect.any(AgentMistake)]).toContainEqual(await taken);
      }
    });

    it("counts in memory as what it has become", async () => {
      const { emitter, memory, emitted, makeRoom } = createTask();
      const data: JsonObject = { numbers };
      const taking = emitter.artifact(create({ data, last }));
      const before = memory.amount;
      data["words"] = "x".repeat(3_000_000);
      makeRoom();
      await taking;
      expect(emitted).toHaveLength(1);
      expect(emitted[0]).toBeGreaterThan(before + 3_000_000);
      expect(memory.amount).toBe(0);
    });
  });
});
