import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createFakeClock, reasonOf } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { anonymous } from "../../test-support/durable-servers.ts";
import { createMortalStore } from "../../test-support/mortal-store.ts";
import { detached, sendTask } from "../../test-support/tasks.ts";
import type { AgentDefinition, DurableExecutor } from "../agent/agent-definition.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";
import type { Owner, TaskStore } from "../store/task-store.ts";

/** What becomes of a process that reads a task: undefined reads it, an error is thrown. */
type Fate = "killed" | "waits" | Error | undefined;

/** Starts of one server over one store, which takes `noteMs` to forget loads; `fates` has what becomes of those who read a task. `limits` are those of the starts after the first. */
function createStarts(execute: DurableExecutor, limits = {}, noteMs = 0) {
  const answers = { lost: false };
  const clock = createFakeClock();
  const memory = createMemoryTaskStore();
  const agent: AgentDefinition = { card: { name: "Durable" }, durable: true, execute };
  const fates = new Map<string, Fate>();
  const reads: string[] = [];
  let ids = 0;
  /** Resolves when the process has taken up what it can, or was killed by it. */
  async function start(own = limits) {
    const mortal = createMortalStore(memory);
    const reading =
      <Rest extends unknown[]>(
        call: (owner: Owner, taskId: string, ...rest: Rest) => ReturnType<TaskStore["find"]>,
      ) =>
      async (owner: Owner, taskId: string, ...rest: Rest) => {
        reads.push(taskId);
        const fate = fates.get(taskId);
        if (fate === "killed") mortal.kill();
        if (fate instanceof Error) throw fate;
        if (fate === "waits") await new Promise(() => {});
        await clock.nextTurn(); // all that are read at a time have begun
        return call(owner, taskId, ...rest);
      };
    const noteLoads: TaskStore["noteLoads"] = async (owner, taskId, loads) => {
      if (loads === 0 && noteMs > 0) await new Promise<void>((resolve) => clock.schedule(noteMs, resolve));
      await mortal.noteLoads(owner, taskId, loads);
      if (answers.lost) throw new ConnectError("the store does not answer", Code.Unavailable);
    };
    const store = { ...mortal, find: reading(mortal.find), noteLoads };
    const harness = createEngineHarness({ agent, clock, store, limits: own, randomId: () => `id-${++ids}` });
    const started = Promise.race([harness, clock.settle().then(() => clock.settle())]);
    return { harness, kill: mortal.kill, started: started.then(() => {}), isDead: () => mortal.dead };
  }
  /** A process with tasks at work, which dies. */
  async function leaveBehind(...words: string[]): Promise<string[]> {
    const { harness, kill } = await start({});
    const { client } = await harness;
    const tasks = [];
    for (const each of words) tasks.push((await sendTask(client, detached(each))).id);
    await clock.settle();
    kill();
    reads.length = 0;
    return tasks;
  }
  const stateOf = async (taskId: string) => (await memory.weigh(anonymous, taskId))?.index.state;
  return { clock, memory, fates, reads, answers, start, leaveBehind, stateOf };
}

const works: DurableExecutor = async function* (task) {
  yield task.artifact({ text: task.text });
  if (task.text !== "ends") await task.step("work", () => new Promise<void>(() => {}));
};

describe("a task that cannot be read", () => {
  it("is left alone until the next start, and FAILED at the third without being read; the others go on", async () => {
    const { clock, fates, reads, start, leaveBehind, stateOf, memory } = createStarts(works);
    const [one = "", broken = "", other = ""] = await leaveBehind("one", "broken", "other");
    fates.set(broken, new RangeError("invalid wire type"));
    for (const attempt of [1, 2]) {
      const process = await start();
      const { log, client } = await process.harness;
      await clock.advance(20_000);
      expect(log.map(({ message, taskId }) => [message, taskId])).toEqual([
        ["an unfinished task could not be taken up", broken],
      ]);
      expect(await memory.weigh(anonymous, broken)).toMatchObject({ loads: attempt });
      for (const id of [one, other]) {
        expect((await client.getTask({ id })).artifacts).toHaveLength(1);
        expect(await memory.weigh(anonymous, id)).toMatchObject({ loads: 0 });
      }
      process.kill();
    }
    reads.length = 0;
    const { client, log } = await (await start()).harness;
    expect(reads).not.toContain(broken);
    expect(await stateOf(broken)).toBe(TaskState.FAILED);
    fates.clear();
    const task = await client.getTask({ id: broken });
    expect([task.status?.state, reasonOf(task), task.history, task.artifacts]).toEqual([
      TaskState.FAILED,
      "unloadable",
      [],
      [],
    ]);
    const { tasks } = await client.listTasks({});
    expect(tasks.map(({ id, status }) => [id, status?.state])).toContainEqual([broken, TaskState.FAILED]);
    expect(log.map(({ level, taskId }) => [level, taskId])).toEqual([["error", broken]]);
  });

  it("is none that the store has counted without an answer: no start has tried to read it", async () => {
    const { clock, reads, answers, start, leaveBehind, stateOf, memory } = createStarts(works);
    const [one = ""] = await leaveBehind("one");
    answers.lost = true;
    for (const _ of [1, 2, 3]) {
      const process = await start();
      await process.started;
      await clock.settle();
      expect([reads, await memory.weigh(anonymous, one)]).toMatchObject([[], { loads: 0 }]);
      process.kill();
    }
    answers.lost = false;
    await (await start()).started;
    expect([reads.length > 0, await stateOf(one)]).toEqual([true, TaskState.SUBMITTED]);
  });

  it("is FAILED at the third start when reading it ends the process, and takes none of the others with it", async () => {
    const { fates, start, leaveBehind, stateOf, memory, reads } = createStarts(works);
    const [one = "", deadly = "", other = ""] = await leaveBehind("one", "deadly", "other");
    fates.set(deadly, "killed");
    for (const loads of [1, 2]) {
      const process = await start();
      await process.started;
      expect(process.isDead()).toBe(true);
      expect(await memory.weigh(anonymous, deadly)).toMatchObject({ loads });
    }
    reads.length = 0;
    const process = await start();
    await process.harness;
    expect(reads).not.toContain(deadly);
    expect(await Promise.all([one, deadly, other].map(stateOf))).toEqual([
      TaskState.SUBMITTED,
      TaskState.FAILED,
      TaskState.SUBMITTED,
    ]);
    for (const id of [one, other]) expect(reads).toContain(id);
    expect(await memory.weigh(anonymous, other)).toMatchObject({ loads: 0 });
  });

  it("does not count when it was the store that could not be reached", async () => {
    const { clock, fates, start, leaveBehind, memory } = createStarts(works);
    const [id = ""] = await leaveBehind("ends not");
    fates.set(id, new ConnectError("the disk is gone", Code.Unavailable));
    await (await start()).harness;
    await clock.advance(10_000);
    expect(await memory.weigh(anonymous, id)).toMatchObject({
      loads: 0,
      index: { state: TaskState.SUBMITTED },
    });
  });

  it("is none that was read well, though the store is slow to forget that it was tried", async () => {
    const sleeps: DurableExecutor = async function* (task) {
      for (let at = 0; at < 5; at += 1) await task.sleep(3_600_000);
      yield task.complete();
    };
    const { clock, reads, start, stateOf } = createStarts(sleeps, {}, 10_000_000);
    const { client, log } = await (await start()).harness;
    const { id } = await sendTask(client, detached("go"));
    for (let hours = 0; hours < 30; hours += 1) await clock.advance(3_600_000);
    expect([await stateOf(id), log]).toEqual([TaskState.COMPLETED, []]);
    expect(reads.length).toBeGreaterThan(4); // it was dropped and read again for each sleep
  });

  it("is FAILED by its timer, too, at the third start, and holds up no other timer", async () => {
    const { clock, fates, start, leaveBehind, stateOf } = createStarts(async function* (task) {
      yield* task.ask("?");
    });
    const [broken = "", whole = ""] = await leaveBehind("broken", "whole");
    fates.set(broken, new RangeError("invalid wire type"));
    for (const attempt of [1, 2]) {
      const process = await start();
      await process.harness;
      await clock.advance(attempt * 600_000);
      expect([attempt, await stateOf(broken)]).toEqual([attempt, TaskState.INPUT_REQUIRED]);
      expect(await stateOf(whole)).toBe(TaskState.CANCELED);
      process.kill();
    }
    await (await start()).harness;
    await clock.advance(1_000);
    expect(await stateOf(broken)).toBe(TaskState.FAILED);
  });
});

describe("tasks that are taken up", () => {
  const size = 100_000;
  const large = Array.from({ length: 10 }, () => "x".repeat(size));

  it("are read a few at a time when they are large; what is at work for long holds them up, but not all of them", async () => {
    const atWork: (() => void)[] = [];
    const ends: DurableExecutor = async function* (task) {
      yield task.artifact({ text: task.text });
      await task.step("work", () => new Promise<void>((end) => atWork.push(end)));
    };
    const { clock, reads, start, leaveBehind } = createStarts(ends, { maxActiveBytes: 5 * size });
    await leaveBehind(...large);
    atWork.length = 0;
    await (await start()).harness; // it serves before the others are read
    expect(new Set(reads).size).toBe(2); // message and artifact: twice the size
    await clock.advance(31_000);
    expect(new Set(reads).size).toBe(3);
    for (let minutes = 0; minutes < 10; minutes += 1) await clock.advance(60_000);
    expect(new Set(reads).size).toBe(5); // until they have twice their part of the memory
    for (let ended = 0; ended < 10; ended += 1) {
      atWork.shift()?.();
      await clock.advance(1_000);
    }
    expect([new Set(reads).size, atWork.length]).toEqual([10, 0]);
  });

  it("hold up the start of a server until there were a thousand of them, and no longer", async () => {
    const sleeps: DurableExecutor = async function* (task) {
      yield task.working();
      await task.sleep(3_600_000);
    };
    const { clock, reads, start, leaveBehind } = createStarts(sleeps);
    await leaveBehind(...Array.from({ length: 1_500 }, (_, at) => String(at)));
    const count = () => new Set(reads).size;
    const { harness } = await start();
    const atStart = harness.then(count);
    expect(await atStart).toBeGreaterThanOrEqual(1_000);
    expect(await atStart).toBeLessThan(1_500);
    await clock.settle();
    expect(count()).toBe(1_500);
  });

  it("hold up the start of a server until 16 MiB of them were read, and no longer", async () => {
    const { clock, reads, start, leaveBehind } = createStarts(works, { maxActiveBytes: 2 ** 30 });
    await leaveBehind(...Array.from({ length: 200 }, () => "x".repeat(size))); // message and artifact: 40 MB
    const count = () => new Set(reads).size;
    const { harness } = await start();
    const atStart = await harness.then(count);
    expect(atStart).toBeGreaterThanOrEqual(80);
    expect(atStart).toBeLessThan(200);
    await clock.settle();
    expect(count()).toBe(200);
  });

  it("hold up the start of a server for half a second, and no longer", async () => {
    const { clock, fates, start, leaveBehind } = createStarts(works);
    const [slow = ""] = await leaveBehind("slow", "fast");
    fates.set(slow, "waits");
    const { harness } = await start();
    let serves = false;
    void harness.then(() => {
      serves = true;
    });
    await clock.advance(499);
    expect(serves).toBe(false);
    await clock.advance(1);
    expect(serves).toBe(true);
  });

  it("make room at once when they do nothing but wait", async () => {
    const sleeps: DurableExecutor = async function* (task) {
      yield task.artifact({ text: task.text });
      await task.sleep(3_600_000);
    };
    const { clock, reads, start, leaveBehind, stateOf } = createStarts(sleeps, {
      maxActiveBytes: 5 * size,
    });
    const tasks = await leaveBehind(...large);
    await (await start()).harness;
    await clock.settle();
    expect(new Set(reads).size).toBe(10);
    await clock.advance(3_600_000);
    for (const id of tasks) expect(await stateOf(id)).toBe(TaskState.COMPLETED);
  });

  it("count for their objects, too, when they are small: they are not all in memory at a time", async () => {
    let loaded = 0;
    let most = 0;
    const sleeps: DurableExecutor = async function* (task) {
      yield task.working();
      loaded += 1;
      most = Math.max(most, loaded);
      task.signal.addEventListener("abort", () => {
        loaded -= 1;
      });
      await task.sleep(3_600_000);
    };
    const { clock, reads, start, leaveBehind } = createStarts(sleeps, { maxActiveBytes: 2 ** 19 });
    await leaveBehind(...Array.from({ length: 500 }, (_, at) => String(at)));
    [loaded, most] = [0, 0];
    await (await start()).harness;
    await clock.settle();
    expect(new Set(reads).size).toBe(500);
    expect(most).toBeLessThan(100);
  });
});
