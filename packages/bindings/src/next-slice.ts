import { afterMicrotasks, afterTurn, isAccepting } from "@a2a-connect/core/internal";

/**
 * What work holds of what others wait for: the turn in which a body becomes a message, one of the few places for reads of the store
 * or for the making of notifications, memory for a message that does not count yet, or the place of an executor whose commit is made.
 */
export type HeldPlace = "body" | "read" | "notification" | "message" | "commit";

/** The long work of one caller; what it does while it holds a place is other work. */
interface CallerWork {
  readonly caller: object | string | undefined;
  /** Whether others wait for it, however fair the slices are: it never rests. */
  readonly holdsPlace: boolean;
  readonly waiting: (() => void)[];
  /** What its slices have taken, in milliseconds; a caller that comes anew begins with what the others have had by then. */
  usedMs: number;
  /** Until when none of its slices begins. */
  restsUntil: number;
}

const callers = new Map<object | string | undefined, CallerWork>();

/** What the caller that was served last had had before. */
let servedMs = 0;

/** Whether a slice runs, or the next one will begin by itself. */
let goesOn = false;

/** The caller that was served last, and when. */
let latest: { readonly caller: CallerWork["caller"]; readonly at: number } | undefined;

/** When one caller was last served soon after another. */
let contendedAt = Number.NEGATIVE_INFINITY;

/** A slice takes a few milliseconds. After one that took longer than this its caller rests so many times as long, */
const longSliceMs = 50;
const restFactor = 4;

/** where another caller had a slice in this time. The small steps of its call, which wait for turns and no slices, go on meanwhile. */
const othersMs = 10_000;

/** Where turns are long: the next slice begins when other work has had so many times as long as the last one. */
const othersFactor = 3;

/** When other work has had its part since the last slice: then the next one waits for no more than one turn. */
let enoughAt = Number.POSITIVE_INFINITY;

/**
 * Resolves when the next slice of long work may begin: after all other work that waits for the event loop. Of all the long
 * work that waits here one slice runs at a time, and then none for a few turns of the event loop. A small call takes about that
 * many turns, for its bytes, its commit and its answer: so it waits for one slice or two, however many callers have long work.
 * Where turns are long, because hundreds of executors are at work, the next one begins sooner: when other work has had three times
 * as long as the slice.
 *
 * The caller whose slices have taken least comes next, so that one that reads many large answers, or has work that cannot be cut,
 * delays its own only. No slice begins in a turn for new connections alone (`isAccepting`).
 *
 * Work that holds a place for which others wait must not wait for what else its caller does, such as hundreds of large answers: it is
 * as if it were another caller's.
 *
 * Work that has begun in an earlier slice, and holds more since, goes on before what its caller begins.
 *
 * @param caller whose work it is, an object or a name; undefined: all such work takes turns with that of callers, as if it were one caller's
 */
export function nextSlice(caller: string | undefined, holds: HeldPlace): Promise<void>;
export function nextSlice(caller: object | string | undefined, hasBegun?: "has begun"): Promise<void>;
export function nextSlice(
  caller: object | string | undefined,
  holds?: HeldPlace | "has begun",
): Promise<void> {
  return new Promise((resolve) => {
    const holdsPlace = holds !== undefined && holds !== "has begun";
    const key = holdsPlace ? `${holds} of ${String(caller)}` : caller;
    const work = callers.get(key) ?? {
      caller: key,
      holdsPlace,
      waiting: [],
      usedMs: servedMs,
      restsUntil: 0,
    };
    callers.set(key, work);
    if (work.waiting.length === 0) work.usedMs = Math.max(work.usedMs, servedMs);
    if (holds === "has begun") work.waiting.unshift(resolve);
    else work.waiting.push(resolve);
    if (!goesOn) resumeAfter(turnsApart, enoughAt);
  });
}

/** @param orAt when it resumes in any case */
function resumeAfter(turns: number, orAt: number = Number.POSITIVE_INFINITY): void {
  goesOn = true;
  afterTurn(() => {
    if (turns <= 1 || performance.now() >= orAt) resume();
    else resumeAfter(turns - 1, orAt);
  });
}

function resume(): void {
  if (isAccepting()) {
    resumeAfter(1);
    return;
  }
  const now = performance.now();
  const { next, restsUntil } = choose(now);
  const begin = next?.waiting.shift();
  if (next === undefined || begin === undefined) {
    goesOn = false;
    if (restsUntil !== undefined) setTimeout(() => goesOn || resumeAfter(1), restsUntil - now);
    return;
  }
  servedMs = Math.max(servedMs, next.usedMs);
  if (latest !== undefined && latest.caller !== next.caller && now - latest.at < othersMs) contendedAt = now;
  latest = { caller: next.caller, at: now };
  begin();
  afterMicrotasks(() => {
    const end = performance.now();
    const tookMs = end - now;
    next.usedMs += Math.max(tookMs, 1);
    const mustRest = !next.holdsPlace && tookMs > longSliceMs && now - contendedAt < othersMs;
    if (mustRest) next.restsUntil = now + (1 + restFactor) * tookMs;
    enoughAt = end + othersFactor * Math.max(tookMs, 1);
    resumeAfter(tookMs > longSliceMs ? longTurnsApart : turnsApart, enoughAt);
  });
}

/** The work that goes on next; or, when all that waits rests, until when. Forgets those that have nothing to do. */
function choose(now: number): {
  readonly next?: CallerWork | undefined;
  readonly restsUntil?: number | undefined;
} {
  let next: CallerWork | undefined;
  let restsUntil: number | undefined;
  let mostMs = servedMs;
  for (const [caller, work] of callers) {
    mostMs = Math.max(mostMs, work.usedMs);
    const rests = work.restsUntil > now;
    if (work.waiting.length === 0) {
      if (!rests && work.usedMs <= servedMs) callers.delete(caller);
    } else if (rests) {
      restsUntil = Math.min(restsUntil ?? work.restsUntil, work.restsUntil);
    } else if (next === undefined || work.usedMs < next.usedMs) {
      next = work;
    }
  }
  if (next === undefined && restsUntil === undefined) servedMs = mostMs; // nothing waits: who comes next is equal to all
  return { next, restsUntil };
}

/** Turns of the event loop from one slice to the next; where `afterTurn` has only a timer, one is long enough. */
const turnsApart = "setImmediate" in globalThis ? 4 : 1;

/** After a long one: calls of many turns, such as a task with several events, have few of them meanwhile. */
const longTurnsApart = 3 * turnsApart;
