import { isTerminal } from "@a2a-connect/core";
import { type Task, TaskState } from "@a2a-connect/proto";
import { taskOf } from "@a2a-connect/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  createDurableServers,
  type DurableServers,
  type Process,
  transcriptOf,
} from "../../../test-support/durable-servers.ts";
import type { Death } from "../../../test-support/mortal-store.ts";
import { detached } from "../../../test-support/tasks.ts";
import type { DurableTask } from "../../agent/durable-task.ts";
import type { DurableEvent } from "../../agent/task-event.ts";
import { isResult } from "./journal-codec.ts";

/** What an executor does, one after the other; afterwards it returns. */
const act = fc.oneof(
  fc.record({ does: fc.constant("working" as const), words: fc.constantFrom("", "so far") }),
  fc.record({ does: fc.constant("append" as const), id: fc.constantFrom("a", "b") }),
  fc.record({
    does: fc.constant("step" as const),
    name: fc.constantFrom("x", "y"),
    ms: fc.constantFrom(0, 7, 3_000),
    fails: fc.constantFrom(0, 0, 1, 2, 9),
  }),
  fc.record({ does: fc.constant("sleep" as const), ms: fc.constantFrom(0, 5, 900, 1_500, 50_000) }),
  fc.record({ does: fc.constant("ask" as const), of: fc.constantFrom("input" as const, "auth" as const) }),
  fc.record({
    does: fc.constant("pool" as const),
    limit: fc.integer({ min: 1, max: 3 }),
    items: fc.array(fc.constantFrom(0, 3, 40, 2_000), { minLength: 1, maxLength: 6 }),
    says: fc.boolean(),
  }),
  fc.record({
    does: fc.constant("race" as const),
    step: fc.constantFrom(1, 30, 5_000),
    sleep: fc.constantFrom(10, 2_000),
  }),
  fc.record({ does: fc.constant("mistake" as const) }),
  fc.record({ does: fc.constantFrom("now" as const, "random" as const) }),
);

type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;

/** Deaths of one process after the other; each counts its own commits. */
const deaths = fc.array(fc.record({ commit: fc.integer({ min: 1, max: 14 }), written: fc.boolean() }), {
  maxLength: 6,
});

/** What one run of the executor saw, and how much of that is durable. */
class Seen {
  readonly all: string[] = [];
  safe = 0;

  note(what: string): void {
    this.all.push(what);
  }

  /** What was seen before an operation is durable when that is over. */
  async through<Result>(operation: Promise<Result>): Promise<Result> {
    const before = this.all.length;
    const result = await operation;
    this.safe = Math.max(this.safe, before);
    return result;
  }
}

/** Runs the program in processes that die, and answers what it asks, until the task has ended. */
async function play(program: readonly Act[], deathsToCome: readonly Death[]) {
  const runs: Seen[] = [];
  const servers: DurableServers = createDurableServers(async function* (task) {
    const seen = new Seen();
    runs.push(seen);
    for (const [at, one] of program.entries()) {
      yield* perform(one, at, task, seen, servers);
    }
  });
  const queue = [...deathsToCome];
  const reopen = async (): Promise<Process> => servers.open(queue.shift());
  let process = await reopen();
  const sent = process.client.sendMessage(detached()).then(taskOf);
  await servers.clock.settle();
  let id: string;
  if (process.dead) {
    process = await reopen();
    const { tasks } = await process.client.listTasks({});
    const [first] = tasks;
    if (first === undefined) return undefined; // it was never made
    id = first.id;
  } else {
    id = (await sent).id;
  }
  for (let turns = 0; turns < 400; turns += 1) {
    await servers.clock.settle();
    if (process.dead) {
      process = await reopen();
      await servers.clock.settle();
      continue;
    }
    const task: Task = await process.client.getTask({ id });
    const state = task.status?.state ?? TaskState.UNSPECIFIED;
    if (isTerminal(state)) {
      return { id, servers, runs, transcript: transcriptOf(await servers.log(id)) };
    }
    if (state === TaskState.INPUT_REQUIRED || state === TaskState.AUTH_REQUIRED) {
      const answer = detached("answer", { taskId: id });
      void process.client.sendMessage(answer).catch(() => {});
    } else {
      await servers.clock.advance(1_100);
    }
  }
  return expect.fail(`the task does not end: ${JSON.stringify(runs.at(-1)?.all)}`);
}

async function* perform(
  one: Act,
  at: number,
  task: DurableTask,
  seen: Seen,
  { clock }: DurableServers,
): AsyncGenerator<DurableEvent> {
  const pause = (ms: number) =>
    ms === 0 ? Promise.resolve() : new Promise<void>((resolve) => void clock.schedule(ms, resolve));
  switch (one.does) {
    case "working":
      yield one.words === "" ? task.working() : task.working(one.words);
      return;
    case "append":
      yield task.append(one.id, `${at} `);
      return;
    case "step": {
      const run = async ({ attempt }: { attempt: number }) => {
        await pause(one.ms);
        if (attempt <= one.fails) throw new TypeError(`attempt ${attempt}`);
        return { at, attempt };
      };
      try {
        yield task.append(
          "a",
          JSON.stringify(
            await seen.through(task.step(one.name, run, { retries: 2, backoff: { initialMs: 1_500 } })),
          ),
        );
      } catch (error) {
        yield task.append("a", String(error));
      }
      return;
    }
    case "sleep":
      await seen.through(task.sleep(one.ms));
      return;
    case "ask": {
      const { text } = yield* one.of === "input" ? task.ask("Which?") : task.askForAuth("Log in.");
      yield task.append("a", text);
      return;
    }
    case "pool": {
      const left = [...one.items.entries()];
      const results: string[] = [];
      const work = async () => {
        for (let next = left.shift(); next !== undefined; next = left.shift()) {
          const [index, ms] = next;
          const first = await seen.through(task.step("fetch", () => pause(ms).then(() => `${at}.${index}`)));
          const second = await seen.through(task.step("parse", () => pause(5).then(() => `${first}!`)));
          const time = task.now();
          results[index] = `${index}=${second}`;
          seen.note(`${index} at ${time}`);
        }
      };
      const workers = Promise.all(Array.from({ length: one.limit }, work));
      if (one.says) {
        yield task.append("b", "pooling ");
        yield task.append("b", "more ");
      }
      await workers;
      yield task.append("b", results.join());
      return;
    }
    case "race": {
      const winner = await Promise.race([
        task.step("slow", () => pause(one.step).then(() => "step")),
        task.sleep(one.sleep).then(() => "sleep"),
      ]);
      seen.note(`${at} won by ${winner}`);
      return;
    }
    case "mistake":
      try {
        yield task.artifact({ id: "empty", parts: [] });
      } catch (error) {
        seen.note(String(error));
        yield task.append("a", "caught ");
      }
      return;
    case "now":
      seen.note(String(task.now()));
      return;
    case "random":
      seen.note(String(task.random()));
      return;
  }
}

it("a durable executor's transcript is the same, wherever its processes die", {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 8 }), deaths, async (program, dying) => {
      const calm = await play(program, []);
      const rough = await play(program, dying);
      if (calm === undefined || rough === undefined) return;
      expect(rough.transcript).toEqual(calm.transcript);
      const results = (await rough.servers.journal(rough.id)).filter(isResult).map(({ op }) => op);
      expect(new Set(results).size).toBe(results.length);
      const last = rough.runs.at(-1)?.all ?? [];
      for (const { all, safe } of rough.runs) expect(last.slice(0, safe)).toEqual(all.slice(0, safe));
    }),
    {
      seed: 20_260_102,
      numRuns: Number(process.env["A2A_RUNS"] ?? (process.env["A2A_LONG"] === "1" ? 150 : 50)),
    },
  );
});
