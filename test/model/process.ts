import type { AgentDefinition, SkillDefinition } from "@a2a-connect/server";
import { createEngineHarness, type EngineHarness, type FakeClock } from "@a2a-connect/testing";
import { type Scenario, type Skill, skills } from "./action.ts";
import { type FaultStore, never, type Process } from "./fault-store.ts";
import type { Ledger } from "./ledger.ts";
import { playDurable, playTurn, type Stage } from "./play-program.ts";
import type { Program } from "./program.ts";

/** How long finished tasks are kept. */
export const retentionMs = 604_800_000;

/** More than any process has a reason for. */
const maxRings = 3_000;

const nothing: Program = { ops: [], onAbort: "obey" };

/** What all processes of a world share. */
export interface Surroundings {
  readonly clock: FakeClock;
  readonly ledger: Ledger;
  readonly store: FaultStore;
  readonly limits: Scenario["limits"];
  randomId(): string;
  /** Numbers the runs of executors. */
  nextRun(): number;
}

/** A point in a process's life at which it dies. */
export interface Doom {
  readonly writes: number;
  readonly when: "before" | "after";
}

/**
 * One process with an engine in it. Killing it is what `kill -9` does to one: from then on nothing goes on in it, no timer
 * rings, nothing is written, and nobody hears of it.
 */
export class EngineProcess implements Process {
  readonly #around: Surroundings;
  /** Signals of the running executors of the skill that runs one at a time, by run. */
  readonly #narrow = new Map<number, () => AbortSignal>();
  #alive = true;
  #doom: { writes: number; when: "before" | "after" } | undefined;
  #alarms = 0;
  #rings = 0;
  #finds = 0;
  harness: EngineHarness | undefined;

  constructor(around: Surroundings, doom: Doom | undefined) {
    this.#around = around;
    this.#doom = doom === undefined ? undefined : { ...doom };
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Alarms of the engine that have not rung, without those in the background. */
  get alarms(): number {
    return this.#alarms;
  }

  /** How often a task was read from the store. */
  get finds(): number {
    return this.#finds;
  }

  /** Starts it; `harness` is there when it serves. */
  start(): void {
    const { limits, randomId } = this.#around;
    const store = this.#around.store.connect(this);
    createEngineHarness({
      agent: this.#agent(),
      store: {
        ...store,
        find: (...args) => {
          this.#finds += 1;
          return store.find(...args);
        },
      },
      clock: this.#clock(),
      limits: { ...limits, maxQueued: 100 },
      protocolVersions: ["1.0", "1.1"],
      retentionMs,
      randomId,
    }).then(
      (harness) => {
        this.harness = harness;
      },
      (error: unknown) => this.#around.ledger.complain(`the engine does not start: ${error}`),
    );
  }

  kill(): void {
    this.#alive = false;
  }

  /** It dies at one of the next writes. */
  doom(doom: Doom): void {
    this.#doom = { ...doom };
  }

  diesAt(when: "before" | "after"): boolean {
    if (this.#doom === undefined || this.#doom.when !== when) return false;
    this.#doom.writes -= 1;
    if (this.#doom.writes <= 0) this.kill();
    return !this.#alive;
  }

  async #stillAlive(): Promise<void> {
    if (!this.#alive) await never();
  }

  #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#around;
    return new Promise((resolve, reject) => {
      const goOn = (how: () => void) => () => {
        cancel();
        if (this.#alive) how();
      };
      const cancel = clock.schedule(ms, goOn(resolve));
      const abort = goOn(() => reject(signal?.reason));
      if (signal?.aborted === true) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    });
  }

  #begin(skill: Skill, signal: () => AbortSignal): number {
    const run = this.#around.nextRun();
    if (skill === "narrow") {
      this.#narrow.set(run, signal);
      // Those that were told to stop may have been abandoned.
      const atWork = [...this.#narrow.values()].filter((each) => !each().aborted);
      if (atWork.length > 1) this.#around.ledger.complain("two executors of a skill that runs one at a time");
    }
    return run;
  }

  #clock(): FakeClock {
    const { clock } = this.#around;
    return {
      now: clock.now,
      ticks: clock.ticks,
      schedule: (delayMs, ring, options) => {
        if (!this.#alive) return () => {};
        const counts = options?.background === true ? 0 : 1;
        let open = true;
        const close = () => {
          this.#alarms -= open ? counts : 0;
          open = false;
        };
        this.#alarms += counts;
        const cancel = clock.schedule(
          delayMs,
          () => {
            close();
            if (!this.#alive) return;
            this.#rings += 1;
            if (this.#rings > maxRings) {
              this.#around.ledger.complain("its timers ring without end");
              this.kill();
              return;
            }
            ring();
          },
          options,
        );
        return () => {
          close();
          cancel();
        };
      },
      nextTurn: async () => {
        if (!this.#alive) return never();
        await clock.nextTurn();
        return this.#alive ? undefined : never();
      },
      advance: clock.advance,
      settle: clock.settle,
      alarms: 0,
    };
  }

  #agent(): AgentDefinition {
    const { ledger } = this.#around;
    const programOf = (messageId: string) => ledger.programs.get(messageId) ?? nothing;
    const stageOf = (skill: Skill): Stage => ({
      begin: (signal) => this.#begin(skill, signal),
      end: (run) => this.#narrow.delete(run),
      wait: (ms, signal) => this.#wait(ms, signal),
      alive: () => this.#stillAlive(),
      effect: (taskId, place) => ledger.effect(taskId, place),
      observe: (taskId, place, value) => ledger.observe(taskId, place, value),
    });
    const define = (id: Skill): SkillDefinition => {
      const card = { id, name: id, description: id };
      const stage = stageOf(id);
      if (id === "durable" || id === "strict") {
        return {
          ...card,
          durable: true,
          whileWorking: id === "strict" ? "refuse" : "queue",
          execute: (task) => playDurable(task, programOf(task.message.messageId), stage),
        };
      }
      return {
        ...card,
        ...(id === "narrow" ? { maxRunning: 1, maxQueued: 1 } : {}),
        recovery: id === "restart" || id === "again" ? "restart" : "fail",
        whileWorking: id === "queue" || id === "again" ? "queue" : "refuse",
        execute: (turn) => playTurn(turn, programOf(turn.message.messageId), stage),
      };
    };
    return { card: { name: "Agent", skills: skills.map(define) } };
  }
}
