import { ReadTurns, shareByLimits, Wakes } from "@a2a-connect/core/internal";
import type { Clock } from "../engine/clock.ts";
import { type Attempt, isLarge } from "./choose-deliveries.ts";

/** A request that runs. */
export interface RunningAttempt extends Attempt {
  /** Whether its notification is in memory. */
  readonly isMade: boolean;
}

/** What bounds the requests of senders; see `PushOptions`. */
export interface PushLimits {
  readonly maxConcurrent: number;
  readonly maxConcurrentBytes: number;
  readonly maxShare: number;
}

/** Requests that begin in one turn of the event loop. Each takes half a millisecond: many would keep new callers waiting. */
const beginsInATurn = 8;

/** How long failed requests keep their places, at most. */
const failurePeriodMs = 1_000;

/** The requests to webhooks: those of one sender, or those of the senders of several agents that have the same limits. */
export class PushPlaces {
  /** Turns in which requests begin. */
  readonly begins: Wakes;
  /** Large notifications that are made, one of each caller at a time. */
  readonly making: ReadTurns = new ReadTurns(2);
  readonly #clock: Pick<Clock, "schedule">;
  readonly #running = new Set<RunningAttempt>();
  /**
   * The requests that have failed in this period, which the first of them began. They keep their places until it ends:
   * otherwise thousands of webhooks that refuse at once would take all of the processor.
   */
  #failed: Attempt[] = [];
  #cancelPeriod: () => void = () => {};
  /** Senders with due deliveries; whose turn is next comes first. */
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.begins = new Wakes(clock, beginsInATurn);
  }

  /** How many places are taken. */
  get taken(): number {
    return this.#running.size + this.#failed.length;
  }

  /** Bytes of the large notifications in memory. */
  get madeBytes(): number {
    const made = [...this.#running].filter((run) => run.isMade && isLarge(run));
    return made.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** What takes places beside these running requests. */
  others(own: ReadonlySet<Attempt>): readonly Attempt[] {
    return [...this.#failed, ...[...this.#running].filter((run) => !own.has(run))];
  }

  begin(run: RunningAttempt): void {
    this.#running.add(run);
  }

  /** A failed one keeps its place for now, but no bytes: its notification is gone. */
  end(run: RunningAttempt, hasFailed: boolean): void {
    this.#running.delete(run);
    if (hasFailed) this.#keep({ delivery: run.delivery, share: run.share, bytes: 0 });
    this.#tellRoom();
  }

  /**
   * Calls `onRoom` whenever places become free, until `leave`.
   *
   * @param hasBegun whether the sender has just taken some: then the others come first
   */
  wait(onRoom: () => void, hasBegun: boolean): void {
    if (hasBegun) this.#waiting.delete(onRoom);
    this.#waiting.add(onRoom);
  }

  leave(onRoom: () => void): void {
    this.#waiting.delete(onRoom);
  }

  /** Of a sender that is closed. */
  close(onRoom: () => void): void {
    this.leave(onRoom);
    if (this.#waiting.size > 0) return;
    this.#cancelPeriod();
    this.#failed = [];
  }

  #keep(attempt: Attempt): void {
    if (this.#failed.push(attempt) > 1) return;
    this.#cancelPeriod = this.#clock.schedule(failurePeriodMs, () => {
      this.#failed = [];
      this.#tellRoom();
    });
  }

  #tellRoom(): void {
    for (const onRoom of [...this.#waiting]) onRoom();
  }
}

/** Gives the senders of one host that have the same limits the same places. */
export function createPushPlacesFor(clock: Clock): (limits: PushLimits) => PushPlaces {
  return shareByLimits(() => new PushPlaces(clock));
}
