import { TaskState } from "@a2a-connect/proto";
import { createFakeClock, reasonOf } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import {
  beginDurable,
  cancel,
  canceled,
  createDurableServers,
} from "../../../test-support/durable-servers.ts";
import { createHeldStore } from "../../../test-support/held-store.ts";
import { detached, endOf, sendTask, stateOf } from "../../../test-support/tasks.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import { defaultEngineLimits } from "../engine-context.ts";
import { TurnAbort } from "../execution.ts";

describe("a cancel of a durable task", () => {
  for (const where of ["in memory", "dropped from memory"] as const) {
    it(`answers at once while a question waits, ${where}`, async () => {
      const { process, id, clock } = await beginDurable(async function* (task) {
        yield* task.ask("Which?");
      });
      if (where !== "in memory") await clock.advance(31_000);
      expect(await cancel(process, id)).toEqual(canceled);
      expect(process.log).toEqual([]);
    });

    it(`ends a sleep, ${where}, and lets the executor clean up`, async () => {
      const undone: unknown[] = [];
      const { process, id, clock } = await beginDurable(async function* (task) {
        yield task.working();
        try {
          await task.sleep(3_600_000);
        } catch (error) {
          await task.step("undo", ({ signal }) => void undone.push([error, signal.aborted]));
          await task.sleep(2_000);
          yield task.append("log", "undone");
          throw error;
        }
      });
      if (where !== "in memory") await clock.advance(31_000);
      const answer = cancel(process, id);
      await clock.advance(5_000);
      expect(await answer).toEqual(canceled);
      expect(undone).toEqual([[expect.any(TurnAbort), false]]);
      expect(undone[0]).toMatchObject([{ cause: "canceled", metadata: { why: "changed my mind" } }, {}]);
      expect((await process.client.getTask({ id })).artifacts).toHaveLength(1);
      expect(process.log).toEqual([]);
    });
  }

  it("answers Unavailable when the store cannot note it", async () => {
    const store = createHeldStore();
    const { process, id } = await beginDurable(
      async function* (task) {
        yield task.working();
        await task.sleep(3_600_000);
      },
      { store },
    );
    store.decide(() => new Error("disk full"));
    await expect(cancel(process, id)).rejects.toMatchObject({ code: Code.Unavailable });
    store.decide(() => "write");
    expect(await stateOf(process.client, id)).toBe(TaskState.WORKING);
  });

  it("answers Unavailable after one try when the store cannot be read, and is done as soon as it can", async () => {
    const memory = createMemoryTaskStore();
    let reads = 0;
    let fails = false;
    const entries: typeof memory.entries = (...args) => {
      reads += 1;
      return fails ? Promise.reject(new ConnectError("no disk", Code.Unavailable)) : memory.entries(...args);
    };
    const store = { ...memory, entries };
    const undone: string[] = [];
    const { process, id, clock } = await beginDurable(
      async function* (task) {
        yield task.working();
        try {
          await task.sleep(3_600_000);
        } finally {
          await task.step("undo", () => void undone.push("undone"));
        }
      },
      { store },
    );
    await clock.advance(31_000); // it is dropped from memory
    reads = 0;
    fails = true;
    await expect(cancel(process, id)).rejects.toMatchObject({ code: Code.Unavailable });
    expect(reads).toBe(1);
    fails = false;
    await clock.advance(1_000);
    expect(undone).toEqual(["undone"]);
    expect(await stateOf(process.client, id)).toBe(TaskState.CANCELED);
  });

  it("reaches a step that runs, with the caller's metadata", async () => {
    const reasons: unknown[] = [];
    const { process, id } = await beginDurable(async function* (task) {
      yield task.working();
      await task.step("long", ({ signal }) => {
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason);
            reject(signal.reason);
          });
        });
      });
    });
    expect(await cancel(process, id)).toEqual(canceled);
    expect(reasons).toMatchObject([{ cause: "canceled", metadata: { why: "changed my mind" } }]);
  });

  it("reaches a step that runs beside a question", async () => {
    let reason: unknown;
    const { process, id } = await beginDurable(async function* (task) {
      void task.step("beside", ({ signal }) => {
        return new Promise(() => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
          });
        });
      });
      yield* task.ask("Which?");
    });
    expect(await cancel(process, id)).toEqual(canceled);
    expect(reason).toMatchObject({ cause: "canceled", metadata: { why: "changed my mind" } });
  });

  it("is answered when the grace period is over, whatever the executor does", async () => {
    const { process, id, clock } = await beginDurable(async function* (task) {
      yield task.working();
      await task.step("deaf", () => new Promise(() => {}));
    });
    const answer = cancel(process, id);
    await clock.advance(9_999);
    expect(await stateOf(process.client, id)).toBe(TaskState.WORKING);
    await clock.advance(1);
    expect(await answer).toEqual(canceled);
  });

  it("finds a task that ended otherwise meanwhile", async () => {
    const { process, id } = await beginDurable(async function* (task) {
      yield task.working();
      await task.inbox.take().catch(() => {});
      yield task.complete("done after all");
    });
    await expect(process.client.cancelTask({ id })).rejects.toMatchObject({
      message: expect.stringContaining("ended"),
    });
    expect(await stateOf(process.client, id)).toBe(TaskState.COMPLETED);
  });

  it("takes a new task out of the queue, and its code is never called", async () => {
    let begun = 0;
    const { process, clock } = await beginDurable(
      async function* (task) {
        begun += 1;
        yield task.working();
        await task.step("long", () => new Promise(() => {}));
      },
      { limits: { ...defaultEngineLimits, maxRunning: 1 } },
    );
    const waiting = await sendTask(process.client, detached());
    await clock.settle();
    expect(await cancel(process, waiting.id)).toEqual(canceled);
    expect(begun).toBe(1);
  });

  it("lets a task that waits for its place again clean up when it gets it, within the grace period", async () => {
    const undone: string[] = [];
    const ends = Promise.withResolvers<void>();
    const { process, id, clock } = await beginDurable(
      async function* (task) {
        if (task.text === "blocks") {
          await task.step("long", () => ends.promise);
          return;
        }
        try {
          await task.sleep(40_000);
        } finally {
          await task.step("undo", () => void undone.push("undone"));
        }
      },
      { limits: { ...defaultEngineLimits, maxRunning: 1 } },
    );
    await clock.advance(31_000); // dropped
    await process.client.sendMessage(detached("blocks"));
    await clock.advance(10_000); // awake, and without a place
    const answer = cancel(process, id);
    await clock.settle();
    expect(undone).toEqual([]);
    ends.resolve();
    expect(await answer).toEqual(canceled);
    expect(undone).toEqual(["undone"]);
  });

  it("is kept over a crash: the next process lets the executor clean up, from where it was", async () => {
    const calls: string[] = [];
    const { servers, process, id, clock, open } = await beginDurable(async function* (task) {
      try {
        await task.sleep(3_600_000);
      } catch (error) {
        await task.step("one", () => void calls.push(`one ${(error as Error).message}`));
        await task.sleep(3_000);
        await task.step("two", () => void calls.push(`two ${task.signal.aborted}`));
        throw error;
      }
    });
    void process.client.cancelTask({ id, metadata: { a: 1 } }).catch(() => {});
    await clock.advance(1_000);
    expect(calls).toEqual(["one the task was canceled"]);
    process.kill();
    const next = await open();
    await clock.advance(5_000);
    const task = await next.client.getTask({ id });
    expect([task.status?.state, reasonOf(task), next.log]).toEqual([...canceled, []]);
    expect(calls).toEqual(["one the task was canceled", "two true"]);
    expect((await servers.journal(id)).map(({ op, kind }) => `${op} ${kind}`)).toEqual([
      "sleep#1 sleep",
      "sleep#1 aborted",
      'step "one"#1 value',
      "sleep#2 sleep",
      "sleep#2 over",
      'step "two"#1 value',
    ]);
  });

  for (const commit of [1, 2, 3, 4, 5]) {
    it(`ends CANCELED when the process dies after ${commit} commits of it, and cleans up`, async () => {
      const calls: string[] = [];
      const { servers, process, id, clock, open } = await beginDurable(async function* (task) {
        yield task.working();
        try {
          await task.sleep(3_600_000);
        } finally {
          await task.step("undo", () => void calls.push("undone"));
        }
      });
      process.kill();
      const middle = await open({ commit: 2 + commit, written: true }); // two are of its start
      await clock.settle();
      void middle.client.cancelTask({ id }).catch(() => {});
      await clock.settle();
      middle.kill();
      const last = await open();
      await clock.advance(100);
      const { status } = await last.client.getTask({ id });
      if (status?.state === TaskState.WORKING) {
        await last.client.cancelTask({ id }); // it had not got as far as the log
      }
      expect(endOf(await last.client.getTask({ id }))).toEqual(canceled);
      const undone = (await servers.journal(id)).filter(({ op }) => op === 'step "undo"#1');
      expect([undone.length, calls.length]).toEqual([1, commit < 3 ? 2 : 1]); // what is not in the log yet is done again
    });
  }

  it("gives up the retries of what it interrupts, not those of what cleans up", async () => {
    const attempts: string[] = [];
    const { process, id, clock } = await beginDurable(async function* (task) {
      const tried = (name: string) =>
        task.step(
          name,
          ({ attempt }) => {
            attempts.push(`${name} ${attempt}`);
            throw new Error(`${name} failed`);
          },
          { retries: 2, backoff: { initialMs: 2_000 } },
        );
      try {
        await tried("work");
      } catch {
        yield task.fail(await tried("undo").catch((error: Error) => error.message));
      }
    });
    void process.client.cancelTask({ id }).catch(() => {});
    await clock.advance(9_000);
    expect(attempts).toEqual(["work 1", "undo 1", "undo 2", "undo 3"]);
    const task = await process.client.getTask({ id });
    expect(task.status?.message?.parts[0]?.content.value).toBe("undo failed");
  });

  it("is refused when the server stops meanwhile, and kept", async () => {
    const { process, id, clock, open } = await beginDurable(async function* (task) {
      yield task.working();
      await task.step("deaf", () => new Promise(() => {}));
    });
    const answer = process.client.cancelTask({ id });
    const refused = expect(answer).rejects.toMatchObject({
      message: expect.stringContaining("shutting down"),
    });
    await clock.settle();
    const stopped = process.server.stop(0);
    await clock.advance(1);
    await Promise.all([stopped, refused]);
    const next = await open();
    await clock.advance(20_000);
    expect(reasonOf(await next.client.getTask({ id }))).toBe("canceled");
  });

  it("ends a sleep whose beginning is still being written", async () => {
    const store = createHeldStore();
    const foreign = Promise.withResolvers<void>();
    const { process, id, clock } = await beginDurable(
      async function* (task) {
        yield task.working();
        await foreign.promise;
        await task.sleep(60_000);
      },
      { store },
    );
    store.hold();
    foreign.resolve();
    await clock.settle();
    const answer = cancel(process, id);
    await clock.settle();
    store.release();
    expect(await answer).toEqual(canceled);
  });

  it("leaves no unhandled rejection behind in tools that nobody awaits", async () => {
    const { process, id } = await beginDurable(async function* (task) {
      void task.sleep(60_000);
      void task.inbox.take();
      await task.sleep(120_000);
      yield task.working();
    });
    expect(await cancel(process, id)).toEqual(canceled);
  });
});

describe("after the end of a durable task", () => {
  it("whatever the executor still gives is refused and logged", async () => {
    const late = Promise.withResolvers<void>();
    const { process, id, clock } = await beginDurable(async function* (task) {
      yield task.working();
      await late.promise;
      yield task.append("a", "late");
    });
    const answer = cancel(process, id);
    await clock.advance(10_000);
    await answer;
    late.resolve();
    await clock.settle();
    expect(process.log.map(({ message }) => message)).toEqual(["an abandoned executor went on"]);
    expect((await process.client.getTask({ id })).artifacts).toEqual([]);
  });
});

describe("the time of a durable task", () => {
  it("is over at its deadline, in memory or not, also for a task that is read back later", async () => {
    const clock = createFakeClock();
    for (const pass of [1_000, 40_000]) {
      const deadline = new Date(clock.now() + pass).toISOString();
      const servers = createDurableServers(async function* (task) {
        yield task.working();
        await task.sleep(3_600_000);
      });
      const process = await servers.open();
      const message = detached("go", { metadata: { "urn:a2a-connect:ext:lifecycle:v1": { deadline } } });
      const { id } = await sendTask(process.client, message);
      await servers.clock.advance(pass);
      expect(endOf(await process.client.getTask({ id }))).toEqual([TaskState.CANCELED, "deadline"]);
    }
  });

  it("counts as silence only while its own code runs, and the end by it is kept over a crash", async () => {
    const store = createHeldStore();
    const { process, id, clock, open } = await beginDurable(
      async function* (task) {
        yield task.working();
        await task.sleep(100_000);
        await task.inbox.take();
        yield* task.ask("Which?");
        await task.step("silent", ({ signal }) => {
          return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        });
      },
      { store, agent: { inactivityTimeoutMs: 10_000 } },
    );
    await clock.advance(175_000);
    await process.client.sendMessage(detached("more", { taskId: id }));
    await clock.advance(175_000);
    expect(await stateOf(process.client, id)).toBe(TaskState.INPUT_REQUIRED);
    await process.client.sendMessage(detached("yes", { taskId: id }));
    await clock.advance(9_999);
    store.decide((commit) =>
      commit.entries.some(({ kind }) => kind === "status") ? new Error("no") : "write",
    );
    await clock.advance(1);
    process.kill();
    store.decide(() => "write");
    const next = await open();
    await clock.advance(100);
    expect(endOf(await next.client.getTask({ id }))).toEqual([TaskState.FAILED, "inactive"]);
  });

  it("ends within the grace period, though its clean-up waits for longer than an executor is kept in memory", async () => {
    let runs = 0;
    const { process, id, clock } = await beginDurable(
      async function* (task) {
        runs += 1;
        yield task.working();
        try {
          await task.inbox.take();
        } finally {
          await task.sleep(3_600_000);
        }
      },
      { limits: { ...defaultEngineLimits, unloadAfterMs: 1_000 } },
    );
    const answer = cancel(process, id);
    await clock.advance(10_000);
    expect(await answer).toEqual(canceled);
    expect(runs).toBe(1);
  });
});
