import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers";
import { setAccepting } from "@a2a-connect/core/internal";

/** A turn of the event loop that takes longer is too long, in milliseconds. */
export const longTurnMs = 10;

/**
 * How long turns are for new connections alone, one after the other: at first, and at most. It doubles each time it was too short, so
 * that thousands of connections of one caller do not keep that of another waiting for seconds.
 */
const acceptingMs = { first: 10, most: 80 };

/** What is known at the end of a turn. */
export interface EndedTurn {
  /** Time that the event loop has worked, since any moment, in milliseconds. */
  readonly busyMs: number;
  readonly tookMs: number;
  /** Whether the next turn is for new connections alone. */
  readonly isAccepting: boolean;
}

/**
 * Watches the turns of the event loop, and makes some of them turns for new connections alone: Node accepts one in a turn, however
 * many there are, and others wait behind them. One decision is for all ports of a process.
 *
 * The functions of `node:timers` stay Node's own where a program has replaced the global one, as tests do: theirs would run this a
 * thousand times for each second that they skip.
 */
export class LoopTurns {
  readonly #busyMs: () => number;
  readonly #watchers = new Set<(turn: EndedTurn) => void>();
  #turn: NodeJS.Immediate | undefined;
  #busyBefore = 0;
  #hasAccepted = false;
  /** What the turns for all have taken since one of them brought no connection. */
  #othersTookMs = 0;
  /** What turns for new connections alone have taken; undefined: this turn is for all. */
  #acceptingTookMs: number | undefined;
  #mayTakeMs = acceptingMs.first;

  /** @param busyMs time that the event loop has worked, since any moment */
  constructor(busyMs: () => number = () => performance.eventLoopUtilization().active) {
    this.#busyMs = busyMs;
  }

  /** Whether this turn is for new connections alone, so that it is short. */
  get isAccepting(): boolean {
    return this.#acceptingTookMs !== undefined;
  }

  /** Time that the event loop has worked until now. */
  get busyMs(): number {
    return this.#busyMs();
  }

  /** A port has accepted a connection. */
  countConnection(): void {
    this.#hasAccepted = true;
    this.#watch();
  }

  /**
   * Calls `end` once, at the end of this turn. @returns what keeps the next turn from waiting for something to do, once it is
   * `ref`ed
   */
  watch(end: (turn: EndedTurn) => void): NodeJS.Immediate {
    this.#watchers.add(end);
    return this.#watch();
  }

  #watch(): NodeJS.Immediate {
    this.#turn ??= setImmediate(() => this.#end()).unref();
    return this.#turn;
  }

  #end(): void {
    this.#turn = undefined;
    const busyMs = this.#busyMs();
    const tookMs = busyMs - this.#busyBefore;
    this.#busyBefore = busyMs;
    const isAccepting = this.#decide(tookMs);
    setAccepting(this, isAccepting);
    if (isAccepting) this.#watch().ref();
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    for (const end of watchers) end({ busyMs, tookMs, isAccepting });
  }

  /**
   * Whether the next turn is for new connections alone: after turns that each brought a connection and were long together, until one
   * brings none or they have taken long enough.
   */
  #decide(tookMs: number): boolean {
    const hasAccepted = this.#hasAccepted;
    this.#hasAccepted = false;
    if (this.#acceptingTookMs === undefined) {
      const othersTookMs = this.#othersTookMs + tookMs;
      const isLong = othersTookMs >= longTurnMs / 2;
      if (isLong) this.#acceptingTookMs = 0;
      this.#othersTookMs = isLong || !hasAccepted ? 0 : othersTookMs;
    } else {
      this.#acceptingTookMs += tookMs;
    }
    if (this.#acceptingTookMs === undefined) return false;
    if (!hasAccepted) {
      this.#mayTakeMs = acceptingMs.first;
      this.#acceptingTookMs = undefined;
    } else if (this.#acceptingTookMs >= this.#mayTakeMs) {
      this.#mayTakeMs = Math.min(2 * this.#mayTakeMs, acceptingMs.most);
      this.#acceptingTookMs = undefined;
    }
    return this.isAccepting;
  }
}

/** Those of this process. */
export const loopTurns: LoopTurns = new LoopTurns();
