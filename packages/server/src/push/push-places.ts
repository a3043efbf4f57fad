import { type Holding, ReadTurns, SharedBudget, shareByLimits, Wakes } from "@a2a-connect/core/internal";
import type { Clock } from "../engine/clock.ts";
import { findWakes } from "../engine/wakes.ts";
import { type Attempt, isLarge } from "./choose-deliveries.ts";
import { LookTurns } from "./look-turns.ts";

/** What bounds the requests of senders; see `PushOptions`. */
export interface PushLimits {
  readonly maxConcurrent: number;
  readonly maxConcurrentBytes: number;
  readonly maxShare: number;
}

/** Requests that begin in one turn of the event loop. Each takes half a millisecond: many would keep new callers waiting. */
const beginsInATurn = 8;

/** So many senders are told of one free place. Most may have nothing for it, and those that come too late do not ask their stores. */
const fewTold = 8;

/** How long failed requests keep their places, at most. */
const failurePeriodMs = 1_000;

/** Tells a sender of free places. It returns whether it looks soon: the place is for the next one otherwise. */
type OnRoom = () => boolean;

/** The requests to webhooks: those of one sender, or those of the senders of several agents that have the same limits. */
export class PushPlaces {
  /** Turns in which requests begin. */
  readonly begins: Wakes;
  /** Turns in which senders look for due deliveries. */
  readonly looks: LookTurns;
  /** Large notifications that are made, one of each caller at a time. */
  readonly #making: ReadTurns;
  /** The large notifications in memory. */
  readonly #made: SharedBudget;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #running = new Map<Attempt, Holding>();
  /**
   * The requests that have failed in this period, which the first of them began. They keep their places until it ends:
   * otherwise thousands of webhooks that refuse at once would take all of the processor.
   */
  #failed: Attempt[] = [];
  #cancelPeriod: () => void = () => {};
  readonly #max: number;
  /** Senders with due deliveries; the one that has waited longest since its last look comes first. */
  readonly #waiting = new Set<OnRoom>();
  /** Those of them that are told of free places when the told ones leave some. */
  #untold = new Set<OnRoom>();
  /** Senders that were told of free places, and have not looked yet. */
  readonly #told = new Set<OnRoom>();
  /** Large notifications that wait for memory. */
  readonly #unmade = new Set<() => void>();

  constructor(clock: Clock, { maxConcurrent, maxConcurrentBytes: max, maxShare }: PushLimits) {
    this.#max = maxConcurrent;
    const refuse = () => new Error("notifications that were made are never refused");
    this.#made = new SharedBudget({ max, maxShare, refuse });
    this.#clock = clock;
    this.begins = new Wakes(clock, beginsInATurn);
    this.looks = new LookTurns(clock);
    this.#making = new ReadTurns(2, { pace: findWakes(clock).reads });
  }

  /** How many places are free. */
  get free(): number {
    return this.#max - this.#running.size - this.#failed.length;
  }

  /** What takes places beside these running requests. */
  others(own: ReadonlySet<Attempt>): readonly Attempt[] {
    return [...this.#failed, ...[...this.#running.keys()].filter((run) => !own.has(run))];
  }

  begin(run: Attempt): void {
    this.#running.set(run, this.#made.open(run.share));
  }

  /** The notification of a request is in memory, until the request ends. */
  countMade(run: Attempt): void {
    if (isLarge(run)) this.#running.get(run)?.grow(run.bytes);
  }

  /**
   * Makes few large notifications at a time, when those of the caller leave room: one takes several times its size meanwhile, and may
   * be larger than its event was, above all when it is a whole task.
   *
   * @param make must not hold the notification when it rejects
   * @throws ConnectError, or why the signal aborted, when it aborts before that
   */
  async makeInTurn<Made>({ share }: Attempt, signal: AbortSignal, make: () => Promise<Made>): Promise<Made> {
    for (;;) {
      await this.#roomFor(share, signal);
      signal.throwIfAborted();
      const made = await this.#making.run({ share, signal: () => signal }, async () =>
        this.#hasRoom(share) ? { value: await make() } : undefined,
      );
      if (made !== undefined) return made.value;
    }
  }

  #hasRoom(share: string): boolean {
    return this.#made.hasRoom(share, 1, 0); // the last one may cross the limit
  }

  async #roomFor(share: string, signal: AbortSignal): Promise<void> {
    while (!this.#hasRoom(share) && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => resolve();
      this.#unmade.add(look);
      signal.addEventListener("abort", look);
      await promise;
      this.#unmade.delete(look);
      signal.removeEventListener("abort", look);
    }
  }

  /** A failed one keeps its place for now, but no bytes: its notification is gone. */
  end(run: Attempt, hasFailed: boolean): void {
    this.#running.get(run)?.end();
    this.#running.delete(run);
    if (hasFailed) this.#keep({ delivery: run.delivery, share: run.share, bytes: 0 });
    this.#tellRoom();
  }

  /**
   * Calls `onRoom` when places become free, until `leave`. Call `looked` after it.
   *
   * @param hasLooked whether the sender has just chosen from what is due: then the others come first
   */
  wait(onRoom: OnRoom, hasLooked: boolean): void {
    if (hasLooked) this.#waiting.delete(onRoom);
    this.#waiting.add(onRoom);
  }

  leave(onRoom: OnRoom): void {
    this.#waiting.delete(onRoom);
    this.#untold.delete(onRoom);
  }

  /** The sender has looked, or could not: what it leaves is for the next. */
  looked(onRoom: OnRoom): void {
    if (this.#told.delete(onRoom)) this.#tellMore();
  }

  /** Of a sender that is closed. */
  close(onRoom: OnRoom): void {
    this.looks.leave(onRoom);
    this.leave(onRoom);
    this.looked(onRoom);
    if (this.#waiting.size + this.#unmade.size > 0) return;
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
    for (const look of [...this.#unmade]) look();
    this.#untold = new Set(this.#waiting);
    this.#tellMore();
  }

  /** Not many more than there is room for: a host may have hundreds of agents. */
  #tellMore(): void {
    for (const onRoom of this.#untold) {
      if (this.free <= 0 || this.#told.size >= Math.max(this.free, fewTold)) return;
      this.#untold.delete(onRoom);
      if (onRoom()) this.#told.add(onRoom);
    }
  }
}

/** Gives the senders of one host that have the same limits the same places. */
export function createPushPlacesFor(clock: Clock): (limits: PushLimits) => PushPlaces {
  return shareByLimits((limits) => new PushPlaces(clock, limits));
}
