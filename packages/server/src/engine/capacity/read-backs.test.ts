import { SharedBudget } from "@a2a-connect/core/internal";
import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createFakeClock } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { createMortalStore } from "../../../test-support/mortal-store.ts";
import { detached, sendTask, stateOf } from "../../../test-support/tasks.ts";
import { defineAgent } from "../../agent/agent-definition.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import { ReadBackLines, ReadBacks } from "./read-backs.ts";

type Caller = "alice" | "bob";

/** Tasks that wait for the same moment, or for an answer, and have left memory. Two of the large ones have more than twice their caller's part. */
async function begin(
  tasks: number,
  { text = "sleep", characters = 28_500, besides = [] as readonly Caller[] } = {},
) {
  const clock = createFakeClock();
  const moment = clock.now() + 3_600_000;
  const memory = createMemoryTaskStore();
  /** Who has gone on and is at work, and what ends the work. */
  const atWork: { readonly caller: string; readonly end: () => void }[] = [];
  const inMemory = { now: 0, most: 0 };
  let waiting = 0;
  const agent = defineAgent({
    card: { name: "Reporter" },
    durable: true,
    async *execute(task) {
      inMemory.now += 1;
      inMemory.most = Math.max(inMemory.most, inMemory.now);
      for (let at = 0; at < 40; at += 1) await task.step(`fetch ${at}`, () => "x".repeat(characters));
      waiting += 1;
      if (task.text === "ask") yield* task.ask("Go on?");
      else await task.sleep(moment - (await task.now()));
      await task.step(
        "work",
        () => new Promise<void>((end) => void atWork.push({ caller: task.principal, end })),
      );
      inMemory.now -= 1;
    },
  });
  const start = async () => {
    Object.assign(inMemory, { now: 0, most: 0 });
    atWork.length = 0;
    const store = createMortalStore(memory);
    const harness = await createEngineHarness({ agent, clock, store, limits: { maxActiveBytes: 2 ** 20 } });
    return { ...harness, kill: store.kill };
  };
  /** A journal is read in turns of the event loop that the clock does not know. */
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await clock.advance(10);
  };
  const second = async () => {
    for (let turns = 0; turns < 50; turns += 1) await clock.advance(20);
  };
  const process = await start();
  const ids: string[] = [];
  for (const caller of [...Array.from({ length: tasks }, () => "alice"), ...besides]) {
    const { id } = await sendTask(process.clientOf(caller), detached(text));
    ids.push(id);
    await until(() => waiting === ids.length);
    await clock.advance(31_000); // it leaves memory
  }
  Object.assign(inMemory, { now: 0, most: 0 });
  return {
    clock,
    process,
    ids,
    atWork,
    inMemory,
    start,
    until,
    second,
    untilMoment: () => clock.advance(moment - clock.now()),
    /** Ends the work of each when it has gone on. */
    async endAll({ clientOf }: Pick<typeof process, "clientOf"> = process) {
      for (const _ of ids) {
        await until(() => atWork.length > 0);
        atWork.shift()?.end();
      }
      await second();
      for (const id of ids) expect(await stateOf(clientOf("alice"), id)).toBe(TaskState.COMPLETED);
    },
  };
}

describe("durable tasks of one caller that have to be read back at the same moment, and have more than its part of the memory together", () => {
  it("go on one after the other when the moment has come for which they have slept", async () => {
    const { untilMoment, inMemory, endAll } = await begin(8);
    await untilMoment();
    await endAll();
    expect(inMemory).toEqual({ now: 0, most: 2 });
  });

  it("do so when their questions are answered together", async () => {
    const { process, ids, inMemory, endAll } = await begin(8, { text: "ask" });
    const client = process.clientOf("alice");
    await Promise.all(ids.map((taskId) => client.sendMessage(detached("yes", { taskId }))));
    await endAll();
    expect(inMemory).toEqual({ now: 0, most: 2 });
  });

  it("do so in a process that starts after the moment, and in the next one", async () => {
    const { process, untilMoment, inMemory, atWork, start, until, endAll } = await begin(8);
    process.kill();
    await untilMoment();
    const next = await start();
    await until(() => atWork.length === 2);
    next.kill();
    expect(inMemory.most).toBe(2);
    await endAll(await start());
    expect(inMemory).toEqual({ now: 0, most: 2 });
  });

  it("do not wait for good for those that stay at work, and wait longer the more their caller has", async () => {
    const { untilMoment, atWork, until, second } = await begin(6);
    await untilMoment();
    await until(() => atWork.length === 2);
    const counts: number[] = [];
    for (let at = 1; at <= 120; at += 1) {
      await second();
      if (at % 15 === 0) counts.push(atWork.length);
    }
    expect(counts).toEqual([3, 3, 4, 4, 4, 4, 4, 5]); // after 10 s, 20 s and 80 s
  });

  it("keep no other caller's waiting", async () => {
    const { untilMoment, atWork, until } = await begin(6, { besides: ["bob"] });
    await untilMoment();
    await until(() => atWork.length === 3);
    expect(atWork.map(({ caller }) => caller).sort()).toEqual(["alice", "alice", "bob"]);
  });

  it("wait for nothing when they bring little", async () => {
    const { untilMoment, atWork, until, clock } = await begin(8, { characters: 10 });
    await untilMoment();
    const before = clock.now();
    await until(() => atWork.length === 8);
    expect(clock.now() - before).toBeLessThan(500);
  });
});

it("one that is to stop and does not leave memory keeps the place of the others for some time only", async () => {
  const clock = createFakeClock();
  const active = new SharedBudget({ max: 2 ** 20, maxShare: 0.5, refuse: () => new Error("full") });
  const readBacks = new ReadBacks(active, clock, new ReadBackLines());
  let read = 0;
  const readBack = () => {
    const memory = active.open("alice");
    const executor = { live: { memory }, isStopping: true, done: new Promise<void>(() => {}) };
    const signal = () => new AbortController().signal;
    void readBacks.run(executor, signal, async () => {
      read += 1;
      memory.grow(2 ** 20);
      return memory.amount;
    });
  };
  for (let at = 0; at < 3; at += 1) readBack();
  const quarters = async (count: number) => {
    for (let at = 0; at < count; at += 1) await clock.advance(250);
  };
  await quarters(4 * 9);
  expect(read).toBe(2);
  await quarters(4 * 21);
  expect(read).toBe(3);
});
