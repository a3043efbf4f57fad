import type { FakeClock } from "@a2a-connect/testing";
import fc from "fast-check";
import type { DurableTask } from "../src/agent/durable-task.ts";
import type { DurableEvent } from "../src/agent/task-event.ts";

const act = fc.oneof(
  fc.record({ does: fc.constantFrom("working", "take", "poll", "now", "pool") }),
  fc.record({ does: fc.constantFrom("ask", "askForAuth") }),
  fc.record({ does: fc.constant("text"), length: fc.constantFrom(10, 40_000, 100_000), last: fc.boolean() }),
  fc.record({ does: fc.constant("json"), names: fc.constantFrom(20, 3_000), last: fc.boolean() }),
  fc.record({
    does: fc.constant("step"),
    ms: fc.constantFrom(0, 5, 900, 3_000, 40_000),
    fails: fc.constantFrom(0, 0, 0, 1, 9),
    limit: fc.constantFrom({}, {}, { timeoutMs: 2_000 }),
  }),
  fc.record({ does: fc.constant("sleep"), ms: fc.constantFrom(0, 5, 900, 1_500, 45_000, 200_000) }),
  fc.record({
    does: fc.constant("race"),
    stepMs: fc.constantFrom(100, 5_000, 60_000),
    sleepMs: fc.constantFrom(10, 2_000, 90_000),
  }),
);

type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;

/** What a durable executor does one after the other, and what it has open meanwhile. */
export interface DurableProgram {
  readonly acts: readonly Act[];
  readonly beside: "nothing" | "a message" | "a sleep" | "a step" | "sleeps and steps";
}

/** Any program. */
export const anyDurableProgram: fc.Arbitrary<DurableProgram> = fc.record({
  acts: fc.array(act, { minLength: 1, maxLength: 7, size: "max" }),
  beside: fc.constantFrom("nothing", "a message", "a sleep", "a step", "sleeps and steps"),
});

/** How far one run of a program has got. */
export interface ProgramRun {
  at: string;
  /** Whether it goes on when a message comes. */
  takes: boolean;
  /** Whether there is work beside what it does. */
  worksBeside: boolean;
}

/** Runs a program once, and notes in `run` how far it is; then its task is completed. */
export async function* runProgram(
  { acts, beside }: DurableProgram,
  task: DurableTask,
  clock: FakeClock,
  run: ProgramRun,
): AsyncGenerator<DurableEvent> {
  const opened = begin(beside, task, clock)
    .catch(() => {}) // the task is canceled
    .then(() => {
      run.worksBeside = false;
    });
  for (const [at, one] of acts.entries()) {
    run.at = `${at}: ${one.does}`;
    run.takes = one.does === "take";
    yield* perform(one, `${at}`, task, clock);
  }
  run.at = "its end";
  run.takes = false;
  await opened;
  yield task.complete("done");
}

/** Resolves when the work is done; what only waits stays open. */
async function begin(beside: DurableProgram["beside"], task: DurableTask, clock: FakeClock): Promise<void> {
  switch (beside) {
    case "nothing":
      return;
    case "a message":
      task.inbox.take().catch(() => {});
      return;
    case "a sleep":
      task.sleep(3_600_000).catch(() => {});
      return;
    case "a step":
      await task.step("beside", () => pause(clock, 30_000));
      return;
    case "sleeps and steps":
      for (let times = 0; times < 3; times += 1) {
        await task.sleep(20_000);
        await task.step("beside", () => pause(clock, 10_000));
      }
  }
}

async function* perform(
  one: Act,
  id: string,
  task: DurableTask,
  clock: FakeClock,
): AsyncGenerator<DurableEvent> {
  switch (one.does) {
    case "working":
      yield task.working(id);
      return;
    case "text":
      yield task.artifact({ id, text: "x".repeat(one.length), last: one.last });
      return;
    case "json": {
      const members = Array.from({ length: one.names }, (_, index) => [`name ${index}`, index]);
      yield task.artifact({ id, data: Object.fromEntries(members), last: one.last });
      return;
    }
    case "ask":
    case "askForAuth":
      yield* task[one.does]({ text: "Which?", timeoutMs: false });
      return;
    case "take":
      await task.inbox.take();
      return;
    case "poll":
      task.inbox.poll();
      return;
    case "now":
      task.now();
      return;
    case "sleep":
      await task.sleep(one.ms);
      return;
    case "step": {
      const attempts = async ({ attempt }: { readonly attempt: number }) => {
        await pause(clock, one.ms);
        if (attempt <= one.fails) throw new Error(`attempt ${attempt}`);
        return "y".repeat(200);
      };
      await task.step("step", attempts, { retries: 2, ...one.limit }).catch((error: unknown) => {
        if (task.signal.aborted) throw error;
      });
      return;
    }
    case "pool":
      await Promise.all([1, 900, 20_000].map((ms) => task.step("pool", () => pause(clock, ms))));
      return;
    case "race":
      await Promise.race([
        task.inbox.take(),
        task.sleep(one.sleepMs),
        task.step("race", () => pause(clock, one.stepMs)),
      ]);
  }
}

function pause(clock: FakeClock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.schedule(ms, resolve));
}
