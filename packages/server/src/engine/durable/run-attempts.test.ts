import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createFakeClock } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { anonymous } from "../../../test-support/durable-servers.ts";
import { createMortalStore } from "../../../test-support/mortal-store.ts";
import { detached, endOf, lifecycle, sendTask } from "../../../test-support/tasks.ts";
import type { AgentDefinition, DurableExecutor } from "../../agent/agent-definition.ts";
import type { DurableTask } from "../../agent/durable-task.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import type { LogEntry } from "../../store/task-store.ts";

type Execute = (task: DurableTask, end: (afterMs?: number) => Promise<never>) => ReturnType<DurableExecutor>;

/** So many starts run the same executor again from the same place. */
const maxRuns = 6;

/** Processes over one store, one after the other. `execute` ends its own by `end`, but not the first one. */
function createProcesses(execute: Execute, limits = {}) {
  const clock = createFakeClock();
  const memory = createMemoryTaskStore();
  let commits = 0;
  /** Of the first task with a note of this type, such commits hang. */
  const hanging: { type?: string; taskId?: string } = {};
  const store: typeof memory = {
    ...memory,
    commit(commit) {
      commits += 1;
      const { type } = hanging;
      if (type === undefined || !commit.entries.some((entry) => isNote(entry, type)))
        return memory.commit(commit);
      hanging.taskId ??= commit.taskId;
      return commit.taskId === hanging.taskId ? new Promise(() => {}) : memory.commit(commit);
    },
  };
  let ids = 0;
  let isFirst = true;
  async function start() {
    const mortal = createMortalStore(store);
    const ran: string[] = [];
    const agent: AgentDefinition = {
      card: { name: "Durable" },
      durable: true,
      execute(task) {
        ran.push(task.text);
        return execute(task, (afterMs = 0) => {
          if (afterMs > 0) clock.schedule(afterMs, mortal.kill);
          else if (!isFirst) mortal.kill();
          return new Promise(() => {});
        });
      },
    };
    // Each has a clock of its own, as processes do.
    const harness = await createEngineHarness({
      agent,
      limits,
      clock: { ...clock },
      store: mortal,
      randomId: () => `id-${++ids}`,
    });
    await clock.settle();
    return { ...harness, ran, kill: mortal.kill, isDead: () => mortal.dead };
  }
  /** A process that lives so long, unless its executors end it: as long as some suspects need for their turns. */
  async function runOn(ms = 155_000) {
    const process = await start();
    for (let passed = 0; passed < ms && !process.isDead(); passed += 250) await clock.advance(250);
    return process;
  }
  /** A process with such tasks, which dies. @returns their ids */
  async function begin(...words: string[]): Promise<string[]> {
    const { client, kill } = await start();
    const tasks: string[] = [];
    for (const each of words) tasks.push((await sendTask(client, detached(each))).id);
    await clock.advance(100);
    kill();
    isFirst = false;
    return tasks;
  }
  async function stateOf(taskId: string) {
    return (await store.weigh(anonymous, taskId))?.index.state;
  }
  /** Starts a process that dies when its tasks have got as far as they can. @returns how many commits it made */
  async function countCommits(): Promise<number> {
    const before = commits;
    const { kill } = await start();
    await clock.advance(2_000);
    kill();
    return commits - before;
  }
  /** How many notes of this type the log has. */
  async function count(taskId: string, type: string): Promise<number> {
    const { entries } = await store.entries(
      anonymous,
      taskId,
      { sequence: 0, generation: 0 },
      "notes",
      1_000,
    );
    return entries.filter((entry) => isNote(entry, type)).length;
  }
  return { clock, hanging, start, runOn, begin, stateOf, count, countCommits };
}

function isNote({ payload }: LogEntry, type: string): boolean {
  return new TextDecoder().decode(payload).includes(`"${type}"`);
}

const works = (task: DurableTask): Promise<never> => task.step("work", () => new Promise<never>(() => {}));

const ends: Execute = async function* (task, end) {
  if (task.text === "works") await works(task);
  if (task.text === "sleeps") await task.sleep(3_600_000);
  yield await end();
};

describe("a durable executor that ends the process", () => {
  it("does so at six starts; at the next one its task is FAILED without it, and no other", async () => {
    const { runOn, begin, stateOf } = createProcesses(ends);
    const [sleeping = "", one = "", other = "", deadly = ""] = await begin(
      "sleeps",
      "works",
      "works",
      "ends",
    );
    for (let at = 0; at < maxRuns; at += 1) {
      const { isDead, ran } = await runOn();
      expect([at, isDead(), ran.includes("ends")]).toEqual([at, true, true]);
    }
    const { client, isDead, ran, log } = await runOn();
    expect([isDead(), ran.filter((word) => word === "works"), ran.includes("ends")]).toEqual([
      false,
      ["works", "works"],
      false,
    ]);
    const task = await client.getTask({ id: deadly });
    expect(endOf(task)).toEqual([TaskState.FAILED, "interrupted"]);
    expect(task.history).toHaveLength(1);
    expect(log.map(({ level, taskId }) => [level, taskId])).toEqual([["error", deadly]]);
    for (const id of [one, other, sleeping]) expect(await stateOf(id)).toBe(TaskState.SUBMITTED);
  });

  const deaths: readonly (readonly [string, number, Execute])[] = [
    [
      "behind a sleep, which the first start ends",
      maxRuns + 1,
      async function* (task, end) {
        await task.sleep(5_000);
        yield await end();
      },
    ],
    [
      "beside a sleep",
      maxRuns,
      async function* (task, end) {
        await Promise.race([task.sleep(3_600_000), task.step("deadly", () => end())]);
        yield task.complete();
      },
    ],
    [
      "behind an event",
      maxRuns,
      async function* (task, end) {
        yield task.working("at work");
        await end();
      },
    ],
  ];
  for (const [where, most, execute] of deaths) {
    it(`is found out ${where}`, async () => {
      const { clock, runOn, begin, stateOf } = createProcesses(execute);
      const [id = ""] = await begin("go");
      await clock.advance(10_000);
      let starts = 0;
      while ((await runOn(31_000)).isDead() && starts < 20) starts += 1;
      expect([starts, await stateOf(id)]).toEqual([most, TaskState.FAILED]);
    });
  }

  it("is found out behind a message to it, also when it has only waited at the starts before", async () => {
    const { clock, start, runOn, begin, stateOf, countCommits } = createProcesses(
      async function* (task, end) {
        await Promise.race([task.sleep(3_600_000), task.inbox.take()]);
        yield await end();
      },
    );
    const [id = ""] = await begin("go");
    for (let at = 0; at < 3; at += 1) await countCommits();
    const { client, isDead } = await start();
    await sendTask(client, detached("deadly", { taskId: id }));
    await clock.settle();
    expect(isDead()).toBe(true);
    let starts = 0;
    while ((await runOn(31_000)).isDead() && starts < 20) starts += 1;
    expect([starts, await stateOf(id)]).toEqual([maxRuns, TaskState.FAILED]);
  });

  it("lets no task fail that is at work beside it, although it takes the only place", async () => {
    const { clock, start, runOn, begin, stateOf } = createProcesses(ends, { maxRunning: 4, maxShare: 1 });
    const others = await begin("works", "works", "works", "ends");
    const deadly = others.pop() ?? "";
    for (let at = 0; at < 2; at += 1) expect((await start()).isDead()).toBe(true);
    const { client, ran } = await start();
    expect(ran).toHaveLength(1); // they are suspects now, and one runs at a time
    await sendTask(client, detached("sleeps"));
    await clock.settle();
    expect(ran).toContain("sleeps"); // those that wait hold no place
    for (let at = 0; at < 4; at += 1) await clock.advance(31_000);
    while ((await runOn()).isDead());
    expect(await stateOf(deadly)).toBe(TaskState.FAILED);
    for (const id of others) expect(await stateOf(id)).toBe(TaskState.SUBMITTED);
  });

  const many = { maxRunning: 256, maxShare: 1 };
  const innocent: readonly (string | number)[] = Array.from({ length: 20 }, () => "works");

  const deadlyMs = [100, 2_000, 10_000, 25_000];
  const crowds = [
    ...deadlyMs.flatMap((ms) => [
      [ms, ...innocent],
      [...innocent, ms],
    ]),
    innocent.toSpliced(5, 0, ...deadlyMs),
    deadlyMs.flatMap((ms) => [ms, ...innocent.slice(15)]),
  ];
  for (const crowd of crowds) {
    const deadly = crowd.filter((each) => each !== "works");
    const place = `as number ${crowd.findIndex((each) => each !== "works") + 1} of ${crowd.length}`;
    it(`is found out when it does so after ${deadly.join(", ")} ms, ${place}, and no other`, async () => {
      const { runOn, begin, stateOf } = createProcesses(async function* (task, end) {
        yield task.text === "works" ? await works(task) : await end(Number(task.text));
      }, many);
      const ids = await begin(...crowd.map(String));
      while ((await runOn(600_000)).isDead());
      const found: unknown[] = [];
      for (const [at, id] of ids.entries()) {
        if ((await stateOf(id)) === TaskState.FAILED) found.push(crowd[at]);
      }
      expect(found).toEqual(deadly);
    });
  }

  it("lets one run behind 60 that are at work within 15 s, after the process was killed two times", async () => {
    const { clock, start, begin } = createProcesses(ends, many);
    await begin(...Array.from({ length: 61 }, () => "works"));
    for (let at = 0; at < 2; at += 1) {
      const { kill } = await start();
      await clock.advance(1_500);
      kill();
    }
    const { ran } = await start();
    let passed = 0;
    for (; ran.length < 61 && passed < 60_000; passed += 250) await clock.advance(250);
    expect([passed, ran.length]).toEqual([15_000, 61]);
  });

  for (const everyMs of [5_000, 20_000]) {
    it(`is not taken for one when the process ends every ${everyMs / 1_000} s for reasons of its own`, async () => {
      const { runOn, begin, stateOf } = createProcesses(ends, many);
      const ids = await begin(...innocent.map(String));
      for (let at = 0; at < 30; at += 1) (await runOn(everyMs)).kill();
      await runOn(1_000);
      for (const id of ids) expect(await stateOf(id)).toBe(TaskState.SUBMITTED);
    });
  }

  it("holds up no suspect of another caller while it gets no place", async () => {
    const { clock, start } = createProcesses(
      async function* (task) {
        yield await works(task);
      },
      { maxRunning: 16 },
    );
    const first = await start();
    for (const each of ["x1", "x2", "x3"]) await sendTask(first.clientOf("X"), detached(each));
    for (const each of ["y1", "y2"]) await sendTask(first.clientOf("Y"), detached(each));
    await clock.advance(100);
    first.kill();
    for (let at = 0; at < 2; at += 1) {
      const { kill } = await start();
      await clock.advance(1_000);
      kill();
    }
    const { clientOf, ran } = await start();
    expect(ran).toEqual(["x1"]);
    for (let at = 0; at < 20; at += 1) await sendTask(clientOf("X"), detached("new"));
    for (let at = 0; at < 4; at += 1) await clock.advance(33_000);
    expect(ran.filter((text) => text !== "new").toSorted()).toEqual(["x1", "y1", "y2"]);
  });

  it("has its turn also when it has asked, and the process ended while it waited for it", async () => {
    const limits = {};
    const { clock, start } = createProcesses(async function* (task) {
      const work = task.text === "asks" ? task.sleep(1_500).then(() => works(task)) : works(task);
      if (task.text === "asks") yield* task.ask({ text: "?", timeoutMs: false });
      await work;
    }, limits);
    const first = await start();
    for (let at = 0; at < 2; at += 1) await sendTask(first.clientOf("X"), detached("asks"));
    for (let at = 0; at < 40; at += 1) await sendTask(first.clientOf("Y"), detached("works"));
    Object.assign(limits, { maxActiveBytes: 400_000 }); // there is no room for all at a start, which is not done then
    await clock.advance(100);
    first.kill();
    const asked: number[] = [];
    for (const ms of [100, 100, 100, 100, 155_000]) {
      await clock.advance(61_000);
      const { ran, kill } = await start();
      for (let passed = 0; passed < ms; passed += 100) await clock.advance(100);
      asked.push(ran.filter((text) => text === "asks").length);
      kill();
    }
    expect(asked).toEqual([2, 2, 2, 0, 2]);
  });

  for (const [when, type, afterMs, ran] of [
    ["before it is called", "begun", 0, []],
    ["when it has survived", "survived", 30_000, ["works"]],
  ] as const) {
    it(`holds up the next one for 10 s longer when the store hangs ${when}`, async () => {
      const { clock, hanging, start, begin } = createProcesses(ends);
      await begin("works", "works");
      for (const ms of [100, 100, 300, 5_300]) {
        const { kill } = await start();
        await clock.advance(ms);
        kill();
      }
      hanging.type = type;
      const process = await start();
      await clock.advance(30_000); // each has four runs: the first one begins now
      await clock.advance(afterMs);
      expect(process.ran).toEqual(ran);
      await clock.advance(9_999);
      expect(process.ran).toEqual(ran);
      await clock.advance(1);
      expect(process.ran).toEqual([...ran, "works"]);
    });
  }

  it("hears at once that it is canceled while it waits for its turn", async () => {
    const { clock, start, begin } = createProcesses(ends, { maxRunning: 2, maxShare: 1 });
    const [, second = ""] = await begin("works", "works");
    for (let at = 0; at < 2; at += 1) (await start()).kill();
    const { client, ran, server } = await start();
    expect(ran).toEqual(["works"]);
    await sendTask(client, detached("works")); // takes the last place
    await clock.settle();
    expect(endOf(await client.cancelTask({ id: second }))).toEqual([TaskState.CANCELED, "canceled"]);
    await clock.advance(31_000);
    expect(ran).toEqual(["works", "works"]);
    const stopped = server.stop(0);
    await clock.advance(1);
    await stopped;
  });
});

describe("a durable executor that runs again and again", () => {
  const starts = 3 * maxRuns;

  it("goes on as long as it adds events to its log, with fewer deaths than that between two of them", async () => {
    let deaths = 0;
    const { begin, clock, runOn, stateOf } = createProcesses(async function* (task, end) {
      for (let at = 0; at <= Math.floor(deaths / maxRuns); at += 1) yield task.working(`${at}`);
      for (let turns = 0; turns < 20; turns += 1) await clock.nextTurn(); // until it is stored
      yield await end();
    });
    const [id = ""] = await begin("go");
    for (deaths = 1; deaths < starts; deaths += 1) expect((await runOn(31_000)).isDead()).toBe(true);
    expect(await stateOf(id)).toBe(TaskState.WORKING);
  });

  it("lets the next one run as soon as it gets further", async () => {
    let isReady = false;
    const { begin, start } = createProcesses(async function* (task) {
      if (isReady) await task.step("more", () => {});
      yield await works(task);
    });
    await begin("one", "two", "three");
    for (let at = 0; at < 2; at += 1) (await start()).kill();
    isReady = true;
    expect((await start()).ran).toEqual(["one", "two", "three"]);
  });

  it("goes on as long as it adds results to its log", async () => {
    const { begin, start, stateOf } = createProcesses(async function* (task, end) {
      for (let at = 0; at < starts; at += 1) {
        let isNew = false;
        await task.step(`${at}`, () => {
          isNew = true;
        });
        if (isNew) await end();
      }
      yield task.complete();
    });
    const [id = ""] = await begin("go");
    for (let at = 1; at < starts; at += 1) expect((await start()).isDead()).toBe(true);
    await start();
    expect(await stateOf(id)).toBe(TaskState.COMPLETED);
  });

  const waits: Readonly<Record<string, Execute>> = {
    sleeps: async function* (task) {
      await task.sleep(3_600_000);
      yield task.complete();
    },
    "sleeps behind an event": async function* (task) {
      yield task.working("at work");
      await task.sleep(3_600_000);
      yield task.complete();
    },
    "waits for a message or the end of a sleep": async function* (task) {
      await Promise.race([task.inbox.take(), task.sleep(3_600_000)]);
      yield task.complete();
    },
    "sleeps two times at once": async function* (task) {
      await Promise.race([task.sleep(7_200_000), task.sleep(3_600_000)]);
      yield task.complete();
    },
    "waits to try a step again": async function* (task) {
      const fails = () => Promise.reject(new Error("fails"));
      await task.step("fails", fails, { retries: 1, backoff: { initialMs: 3_600_000, maxMs: 3_600_000 } });
    },
    asks: async function* (task) {
      yield* task.ask("?");
    },
    "waits for its inbox": async function* (task) {
      await task.inbox.take();
      yield task.complete();
    },
  };
  for (const [what, execute] of Object.entries(waits)) {
    it(`is not stopped when it only ${what}, however often the process is killed`, async () => {
      const { begin, start, stateOf } = createProcesses(execute);
      const [id = ""] = await begin("go");
      for (let at = 0; at < starts; at += 1) (await start()).kill();
      expect(await stateOf(id)).not.toBe(TaskState.FAILED);
    });
    for (const deadline of [{}, lifecycle({ deadline: "2100-01-01T00:00:00Z" })]) {
      it(`writes at the first start only when it ${what}, ${"metadata" in deadline ? "with" : "without"} a deadline`, async () => {
        const { start, clock, countCommits } = createProcesses(execute);
        const { client, kill } = await start();
        for (let at = 0; at < 10; at += 1) await sendTask(client, detached("go", deadline));
        await clock.advance(100);
        kill();
        const isAsked = what === "asks"; // a start does not look for it
        expect(await countCommits()).toBe(isAsked ? 0 : 20);
        for (let at = 0; at < 3; at += 1) expect(await countCommits()).toBe(0);
      });
    }
  }

  it("counts again when it only waits behind a message that came between two starts", async () => {
    const { start, begin, countCommits } = createProcesses(async function* (task) {
      await task.inbox.take();
      await task.inbox.take();
      yield task.complete();
    });
    const [id = ""] = await begin("go");
    expect([await countCommits(), await countCommits()]).toEqual([2, 0]);
    const { client, kill } = await start();
    await sendTask(client, detached("more", { taskId: id }));
    kill();
    expect(await countCommits()).toBeGreaterThan(0); // takes the message
    expect([await countCommits(), await countCommits()]).toEqual([2, 0]);
  });

  it("is not stopped when the server was stopped in order", async () => {
    const { begin, clock, start, stateOf, count } = createProcesses(ends);
    const [id = ""] = await begin("works");
    for (let at = 0; at < starts; at += 1) {
      const { server, ran } = await start();
      expect(ran).toEqual(["works"]);
      const stopped = server.stop(0);
      await clock.advance(1);
      await stopped;
    }
    expect(await stateOf(id)).toBe(TaskState.SUBMITTED);
    expect(await count(id, "survived")).toBe(starts);
  });

  it("is not stopped when the server was killed while it was stopped in order", async () => {
    const { begin, clock, start, stateOf } = createProcesses(ends);
    const [id = ""] = await begin("works");
    for (let at = 0; at < starts; at += 1) {
      const { server, ran, kill } = await start();
      expect(ran).toEqual(["works"]);
      await clock.advance(5_000);
      void server.stop(30_000);
      await clock.advance(10_000);
      kill();
    }
    expect(await stateOf(id)).toBe(TaskState.SUBMITTED);
  });

  it("is not stopped when each process was killed after half a minute", async () => {
    const { begin, clock, start, stateOf } = createProcesses(ends);
    const [id = ""] = await begin("works");
    for (let at = 0; at < starts; at += 1) {
      const { kill, ran } = await start();
      expect(ran).toEqual(["works"]);
      await clock.advance(31_000);
      kill();
    }
    expect(await stateOf(id)).toBe(TaskState.SUBMITTED);
  });

  it("counts its first run after a start only, and not when it is loaded again later", async () => {
    const { begin, clock, start, count } = createProcesses(async function* (task) {
      for (let at = 0; at < 5; at += 1) await task.sleep(3_600_000);
      yield task.complete();
    });
    const [id = ""] = await begin("go");
    await start();
    for (let at = 0; at < 3; at += 1) await clock.advance(3_600_000);
    expect([await count(id, "begun"), await count(id, "survived")]).toEqual([1, 1]);
  });
});
