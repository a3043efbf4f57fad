import { setImmediate as nextImmediate } from "node:timers/promises";
import { formatTaskState, isInterrupted, isTerminal } from "@a2a-connect/core";
import { type Task, TaskState } from "@a2a-connect/proto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { anyDurableProgram, type ProgramRun, runProgram } from "../../../test-support/durable-programs.ts";
import {
  anonymous,
  createDurableServers,
  type DurableServers,
  type Process,
} from "../../../test-support/durable-servers.ts";
import { createLossyStore, type LossyStore } from "../../../test-support/lossy-store.ts";
import { detached, sendTask } from "../../../test-support/tasks.ts";
import type { DurableTask } from "../../agent/durable-task.ts";
import type { DurableEvent } from "../../agent/task-event.ts";
import { defaultEngineLimits } from "../engine-context.ts";

const isLong = process.env["A2A_LONG"] === "1";

const anyScenario = fc.record({
  /** Tasks take turns to run one of them. */
  programs: fc.array(anyDurableProgram, { minLength: 3, maxLength: 3 }),
  tasks: fc.integer({ min: 1, max: 12 }),
  limits: fc.record({
    maxActiveBytes: fc.constantFrom(2 ** 20, 2 ** 21, 2 ** 26),
    maxRunning: fc.constantFrom(1, 2, 100),
    maxShare: fc.constantFrom(1, 7 / 8),
    unloadAfterMs: fc.constantFrom(1, 100, 5_000, 30_000),
  }),
  /** What happens, to which task, and how long after what came before. */
  events: fc.array(
    fc.record({
      ms: fc.constantFrom(1, 50, 1_100, 6_000, 31_000, 100_000),
      does: fc.oneof(
        { weight: 7, arbitrary: fc.constant("nothing") },
        { weight: 6, arbitrary: fc.constant("message") },
        { weight: 2, arbitrary: fc.constant("kill") },
        { weight: 1, arbitrary: fc.constantFrom("stop", "cancel", "grant") },
      ),
      task: fc.nat(11),
    }),
    { maxLength: 25, size: "max" },
  ),
  losses: fc.array(fc.record({ calls: fc.nat(60), done: fc.boolean() }), { maxLength: 10, size: "max" }),
});

type Scenario = typeof anyScenario extends fc.Arbitrary<infer Value> ? Value : never;

/** Twice as many messages as all tasks take together: in a round some are refused, because others have the memory. */
const maxRounds = 200;

/** So many quarters of a minute the work of all tasks takes at most, one after the other. */
const maxQuarters = 750;

/** Real time in which long work that rests goes on: slices of it rest by another clock, and for seconds where the machine is slow. */
const maxRealMs = 20_000;

/** Tasks of such programs, in one process after the other, over a store that loses answers. */
class World {
  readonly #programs: Scenario["programs"];
  readonly #store: LossyStore;
  readonly #servers: DurableServers;
  /** The newest run of each task: earlier ones were dropped, or have died with their process. */
  readonly #runs = new Map<string, ProgramRun>();
  readonly #ids: string[] = [];
  #process: Process | undefined;

  constructor({ programs, limits, losses }: Scenario) {
    this.#programs = programs;
    this.#store = createLossyStore(losses);
    const options = { store: this.#store, limits: { ...defaultEngineLimits, ...limits } };
    this.#servers = createDurableServers((task) => this.#execute(task), options);
  }

  /** The tasks live through all that happens; then they get what they wait for, until all have ended. */
  async live({ tasks, events }: Scenario): Promise<void> {
    await this.#restart();
    for (let at = 0; at < tasks; at += 1) {
      const sent = sendTask(this.#alive.client, detached(`${at % this.#programs.length}`));
      sent.then(({ id }) => this.#ids.push(id), ignore);
      await this.#pass(1);
    }
    for (const event of events) {
      await this.#pass(event.ms);
      await this.#meet(event);
    }
    this.#store.isCalm = true;
    for (let rounds = 0; ; rounds += 1) {
      const waiting = await this.#rest();
      if (waiting.length === 0) break;
      if (rounds === maxRounds) expect.fail(`no message helps these: ${this.#tell(waiting)}`);
      for (const task of waiting) {
        this.#ask(stateOf(task) === TaskState.AUTH_REQUIRED ? "grant" : "message", task.id);
        await this.#pass(1_000); // tasks that are loaded at the same time take each other's memory
      }
    }
    this.#alive.kill();
    await this.#store.close();
  }

  #execute(task: DurableTask): AsyncGenerator<DurableEvent> {
    const program = this.#programs[Number(task.text)];
    if (program === undefined) throw new Error(`there is no program ${task.text}`);
    const run: ProgramRun = { at: "its beginning", takes: false, worksBeside: true };
    this.#runs.set(task.taskId, run);
    return runProgram(program, task, this.#servers.clock, run);
  }

  get #alive(): Process {
    if (this.#process === undefined) throw new Error("no process was started");
    return this.#process;
  }

  async #restart(): Promise<void> {
    this.#process?.kill();
    this.#store.isCalm = true;
    this.#process = await this.#servers.open();
    this.#store.isCalm = false;
  }

  /** Time passes, and that of which the clock does not know: the slices of long work. */
  async #pass(ms: number): Promise<void> {
    const { clock } = this.#servers;
    await clock.advance(ms);
    for (let turns = 0; turns < 20; turns += 1) await nextImmediate();
    await clock.settle();
  }

  async #meet({ does, task }: Scenario["events"][number]): Promise<void> {
    if (does === "nothing") return;
    if (does === "stop") {
      this.#alive.server.stop(1_000).catch(ignore);
      await this.#pass(2_000);
    }
    if (does === "stop" || does === "kill") return this.#restart();
    const id = this.#ids[task % Math.max(1, this.#ids.length)];
    if (id !== undefined) this.#ask(does, id);
  }

  /** Does not wait for the answer: its process may be killed before. */
  #ask(does: "message" | "grant" | "cancel", taskId: string): void {
    const { client, server } = this.#alive;
    const answers = {
      message: () => client.sendMessage(detached("more", { taskId })),
      grant: () => server.grant({ taskId, ...anonymous }, { reference: "vault/1" }),
      cancel: () => client.cancelTask({ id: taskId }),
    };
    answers[does]().catch(ignore);
  }

  /** Lets time pass until each task has ended or waits for its caller. @returns those that wait */
  async #rest(): Promise<readonly Task[]> {
    const began = performance.now();
    for (let quarters = 0; ; quarters += 1) {
      await this.#pass(15_000);
      const { tasks } = await this.#alive.client.listTasks({});
      const left = tasks.filter((task) => !isTerminal(stateOf(task)));
      const silent = left.filter((task) => !this.#waits(task));
      if (silent.length === 0) return left;
      const isOver = quarters >= maxQuarters && performance.now() - began > maxRealMs;
      if (isOver) expect.fail(`these wait for nothing: ${this.#tell(silent)}`);
    }
  }

  #waits(task: Task): boolean {
    const run = this.#runs.get(task.id);
    const asks = run?.takes === true || isInterrupted(stateOf(task));
    return asks && run?.worksBeside === false;
  }

  #tell(tasks: readonly Task[]): string {
    const lines = tasks.map((task) => {
      const { at = "no run", worksBeside = false } = this.#runs.get(task.id) ?? {};
      return `${task.id} ${formatTaskState(stateOf(task))}, at ${at}${worksBeside ? ", with work beside" : ""}`;
    });
    return lines.join("; ");
  }
}

function stateOf({ status }: Task): TaskState {
  return status?.state ?? TaskState.UNSPECIFIED;
}

function ignore(): void {}

it("every durable task ends, or says what it waits for", {
  timeout: isLong ? 3_600_000 : 600_000,
}, async () => {
  const property = fc.asyncProperty(fc.noBias(anyScenario), (scenario) => new World(scenario).live(scenario));
  await fc.assert(property, {
    seed: Number(process.env["A2A_SEED"] ?? (isLong ? Date.now() % 2 ** 31 : 20_261_202)),
    endOnFailure: true, // each try would take as long as the tasks have to end
    numRuns: Number(process.env["A2A_RUNS"] ?? (isLong ? 3_000 : 50)),
  });
});
