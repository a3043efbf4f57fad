import { a2aError, type Priority } from "@a2a-connect/core";
import type { AgentDefinition, CapacityDefinition } from "../../agent/agent-definition.ts";
import type { EngineContext } from "../engine-context.ts";
import { Crew } from "./crew.ts";
import { type Waiting, WaitingQueue } from "./waiting-queue.ts";

/** A piece of work that may have to wait for its place. It has that place until `run` resolves. */
export interface Runnable {
  readonly priority: Priority;
  /** Whose places it takes besides the agent's; undefined: of no skill. */
  readonly skill: string | undefined;
  /** Must not reject. */
  run(): Promise<void>;
}

/** What became of work that asked for a place; `refused`: as much is waiting as its skill or its agent allows. */
export type Place = "running" | "queued" | "refused";

/** One skill's work. */
interface Lane {
  readonly crew: Crew;
  readonly queues: Readonly<Record<Priority, WaitingQueue<Runnable>>>;
}

/** In the order in which they are served. */
const priorities: readonly Priority[] = ["high", "normal", "low"];

/**
 * Lets a bounded number of executions run at a time, of the agent and of each skill; the others wait by priority, then by
 * age (docs/limits.md). A skill at its limit holds up nobody else.
 */
export class Scheduler {
  #agent: AgentDefinition;
  readonly #limits: Pick<EngineContext["limits"], "maxRunning" | "maxQueued">;
  readonly #clock: Pick<EngineContext["clock"], "now">;
  readonly #all: Crew;
  /** One for each skill that has been asked for; as many as the card has, or has had, at most. */
  readonly #lanes = new Map<string | undefined, Lane>();
  #tickets = 0;

  constructor({ agent, limits, clock }: Pick<EngineContext, "agent" | "limits" | "clock">) {
    this.#agent = agent;
    this.#limits = limits;
    this.#clock = clock;
    this.#all = new Crew(agent, limits.maxRunning);
  }

  /** The skills may have other capacities from now on. Work of one that is gone keeps the limits that it had. */
  redefine(agent: AgentDefinition): void {
    this.#agent = agent;
    for (const [skill, { crew }] of this.#lanes) {
      const definition = this.#definitionOf(skill);
      if (definition !== undefined) {
        crew.limit(definition);
      }
    }
    while (this.#runNext()) {} // where more may run than before
  }

  /**
   * Runs `work` now, or when a place becomes free.
   *
   * @param admission `always` for work that was promised already: it waits even where the queue is full
   * @throws ConnectError CAPACITY when the queue of this process is full
   */
  start(work: Runnable, admission: "bounded" | "always" = "bounded"): Place {
    const { crew, queues } = this.#laneOf(work.skill);
    const place = this.#findPlace(crew, admission);
    if (place === "running") {
      this.#run(work, crew);
    } else if (place === "queued") {
      queues[work.priority].add(work, ++this.#tickets);
      crew.waiting++;
      this.#all.waiting++;
    }
    return place;
  }

  /** For work that is to be known to others before it is started. @throws ConnectError CAPACITY when `start` would */
  assertRoom(skill: string | undefined): void {
    this.#findPlace(this.#laneOf(skill).crew, "bounded");
  }

  /** Takes waiting work out of the queue; false when it runs or is done. */
  withdraw(work: Runnable): boolean {
    const { crew, queues } = this.#laneOf(work.skill);
    if (!queues[work.priority].delete(work)) {
      return false;
    }
    crew.waiting--;
    this.#all.waiting--;
    return true;
  }

  /** When work of this skill that was refused is worth another try, in seconds (docs/extensions/lifecycle.md). */
  retryAfterSeconds(skill: string | undefined): number {
    const { crew } = this.#laneOf(skill);
    const full = crew.isFull ? crew : this.#all;
    return full.runTime.retryAfterSeconds(full.waiting, Math.min(full.maxRunning, this.#all.maxRunning));
  }

  #findPlace(crew: Crew, admission: "bounded" | "always"): Place {
    if (this.#all.hasPlace && crew.hasPlace) {
      return "running";
    }
    if (admission === "always") {
      return "queued";
    }
    if (crew.isFull || this.#all.isFull) {
      return "refused";
    }
    const { maxQueued } = this.#limits;
    if (this.#all.waiting >= maxQueued) {
      throw a2aError("CAPACITY", `${maxQueued} tasks are waiting already; try again later`);
    }
    return "queued";
  }

  #laneOf(skill: string | undefined): Lane {
    let lane = this.#lanes.get(skill);
    if (lane === undefined) {
      const queues = {
        high: new WaitingQueue<Runnable>(),
        normal: new WaitingQueue<Runnable>(),
        low: new WaitingQueue<Runnable>(),
      };
      lane = { crew: new Crew(this.#definitionOf(skill) ?? {}), queues };
      this.#lanes.set(skill, lane);
    }
    return lane;
  }

  #definitionOf(skill: string | undefined): CapacityDefinition | undefined {
    return this.#agent.card.skills?.find(({ id }) => id === skill);
  }

  #run(work: Runnable, crew: Crew): void {
    const beganAt = this.#clock.now();
    const crews = [crew, this.#all];
    for (const each of crews) {
      each.running++;
    }
    void work.run().finally(() => {
      for (const each of crews) {
        each.running--;
        each.runTime.note(this.#clock.now() - beganAt);
      }
      this.#runNext();
    });
  }

  /** One place has become free, of the agent and of one skill: one more may run at most. @returns whether one does */
  #runNext(): boolean {
    const next = this.#all.waiting > 0 && this.#all.hasPlace ? this.#findNext() : undefined;
    if (next !== undefined) {
      this.withdraw(next);
      this.#run(next, this.#laneOf(next.skill).crew);
    }
    return next !== undefined;
  }

  /** Looks at the first of each skill only, never at those behind. */
  #findNext(): Runnable | undefined {
    const lanes = [...this.#lanes.values()].filter(({ crew }) => crew.waiting > 0 && crew.hasPlace);
    for (const priority of priorities) {
      let oldest: Waiting<Runnable> | undefined;
      for (const { queues } of lanes) {
        const { first } = queues[priority];
        if (first !== undefined && (oldest === undefined || first.ticket < oldest.ticket)) {
          oldest = first;
        }
      }
      if (oldest !== undefined) {
        return oldest.work;
      }
    }
    return undefined;
  }
}
