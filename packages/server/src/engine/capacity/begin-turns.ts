import type { SharedBudget } from "@a2a-connect/core/internal";
import type { Clock } from "../clock.ts";
import { turnsBeyondPart } from "./memory-turns.ts";

/**
 * Of those that have waited, so many of one caller may be about to begin: the log has to say so first, and its commit may take long. Where
 * it takes longer than `lateMs`, they count for their agent alone: if n agents have such stores, n times as many may begin at the same moment.
 */
const maxPreparing = 16;
const lateMs = 10_000;

/** Tells when a task has left memory. */
interface Room {
  readonly active: SharedBudget;
  watchRoom(onRoom: () => void): () => void;
}

/** One that is about to begin. */
interface Preparation {
  readonly agent: object;
  isLate: boolean;
}

/**
 * Lets the executors of a caller begin a few at a time while its tasks take more memory than its part. An executor may make something
 * large before it first yields, and its task counts nothing of that before: a caller's small tasks would each bring one more.
 *
 * A turn is over when the executor has ended, and after a while in any case: those that are at work may wait for it.
 */
export class BeginTurns {
  readonly #room: Room;
  readonly #clock: Pick<Clock, "schedule">;
  /** What ends each turn. */
  readonly #taken = new Map<string | undefined, Set<() => void>>();
  readonly #preparing = new Map<string | undefined, Set<Preparation>>();
  /** The one that has begun nothing for longest comes first. */
  readonly #onRoom = new Set<() => boolean>();
  #unwatch: (() => void) | undefined;

  constructor(room: Room, clock: Pick<Clock, "schedule">) {
    this.#room = room;
    this.#clock = clock;
  }

  /** Whether an executor of this caller may begin now. */
  may(share: string | undefined): boolean {
    const { active } = this.#room;
    if (!active.isExceeded(share)) return true;
    return (this.#taken.get(share)?.size ?? 0) < turnsBeyondPart(active, share).maxAtOnce;
  }

  /** Whether one that has waited may be made ready to begin. */
  mayPrepare(share: string | undefined, agent: object): boolean {
    const preparing = [...(this.#preparing.get(share) ?? [])];
    const inTime = preparing.filter(({ isLate }) => !isLate);
    const ofAgent = preparing.filter((each) => each.agent === agent);
    return Math.max(inTime.length, ofAgent.length) < maxPreparing;
  }

  /** One that has waited is made ready. @returns call it when its code has been called, or will not be; a second call does nothing */
  prepare(share: string | undefined, agent: object): () => void {
    const preparing = this.#preparing.get(share) ?? new Set();
    const one: Preparation = { agent, isLate: false };
    this.#preparing.set(share, preparing.add(one));
    const beLate = (): void => {
      one.isLate = true;
      this.#tell();
    };
    const cancelTimer = this.#clock.schedule(lateMs, beLate, { background: true });
    return () => {
      cancelTimer();
      if (!preparing.delete(one)) return;
      if (preparing.size === 0) this.#preparing.delete(share);
      this.#tell();
    };
  }

  /** An executor of this caller begins. @returns call it when it has ended */
  begin(share: string | undefined): () => void {
    const { active } = this.#room;
    if (!active.isExceeded(share)) return () => {};
    const taken = this.#taken.get(share) ?? new Set();
    this.#taken.set(share, taken);
    const end = (): void => {
      cancelTimer();
      if (!taken.delete(end)) return;
      if (taken.size === 0 && this.#taken.get(share) === taken) this.#taken.delete(share);
      this.#tell();
    };
    const { turnMs } = turnsBeyondPart(active, share);
    const cancelTimer = this.#clock.schedule(turnMs, end, { background: true });
    taken.add(end);
    return end;
  }

  /**
   * Calls `onRoom` when `may` may have changed, until the returned function is called. Of several agents, the one that has begun
   * something is asked after the others the next time: a caller's tasks may wait at each.
   *
   * @param onRoom returns whether it has begun something
   */
  watch(onRoom: () => boolean): () => void {
    this.#onRoom.add(onRoom);
    this.#unwatch ??= this.#room.watchRoom(() => this.#tell());
    return () => {
      this.#onRoom.delete(onRoom);
      if (this.#onRoom.size > 0) return;
      this.#unwatch?.();
      this.#unwatch = undefined;
    };
  }

  #tell(): void {
    for (const onRoom of [...this.#onRoom]) {
      if (onRoom() && this.#onRoom.delete(onRoom)) this.#onRoom.add(onRoom);
    }
  }
}
