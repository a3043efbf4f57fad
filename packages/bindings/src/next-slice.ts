import { isAccepting } from "@a2a-connect/core/internal";

/** The long work of one caller. */
interface CallerWork {
  readonly caller: object | string | undefined;
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

/** Where turns are long: slices have this part of what other work has had since the last one, and at most so long in one turn. */
const partOfOthers = 1 / 3;
const maxTogetherMs = 10;

/** When the last slice ended, or nothing waited for one. */
let idleSince = 0;

/** When other work has had its part since the last slice: then the next one waits for no more than one turn. */
let enoughAt = Number.POSITIVE_INFINITY;

/**
 * Resolves when the next slice of long work may begin: after all other work that waits for the event loop. Of all the long
 * work that waits here one slice runs at a time, and then none for a few turns of the event loop. A small call takes about that
 * many turns, for its bytes, its commit and its answer: so it waits for one slice or two, however many callers have long work.
 * Where turns are long, because hundreds of executors are at work, the next slices begin sooner: a third as long as other work takes.
 *
 * The caller whose slices have taken least comes next, so that one that reads many large answers, or has work that cannot be cut,
 * delays its own only. No slice begins in a turn for new connections alone (`isAccepting`).
 *
 * @param caller whose work it is, an object or a name; undefined: all such work takes turns with that of callers, as if it were one caller's
 */
export function nextSlice(caller: object | string | undefined): Promise<void> {
  return new Promise((resolve) => {
    const work = callers.get(caller) ?? { caller, waiting: [], usedMs: servedMs, restsUntil: 0 };
    callers.set(caller, work);
    if (work.waiting.length === 0) work.usedMs = Math.max(work.usedMs, servedMs);
    work.waiting.push(resolve);
    if (goesOn) return;
    idleSince = performance.now();
    resumeAfter(turnsApart, enoughAt);
  });
}

/** @param orAt when it resumes in any case */
function resumeAfter(turns: number, orAt: number = Number.POSITIVE_INFINITY): void {
  goesOn = true;
  later(() => {
    const now = performance.now();
    if (turns <= 1 || now >= orAt) resume(Math.min((now - idleSince) * partOfOthers, maxTogetherMs));
    else resumeAfter(turns - 1, orAt);
  });
}

/** @param mayTakeMs how long slices may take one after the other; one that takes longer is alone */
function resume(mayTakeMs: number): void {
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
  afterSlice(() => {
    idleSince = performance.now();
    const tookMs = idleSince - now;
    next.usedMs += Math.max(tookMs, 1);
    const mustRest = tookMs > longSliceMs && now - contendedAt < othersMs;
    if (mustRest) next.restsUntil = now + (1 + restFactor) * tookMs;
    const leftMs = mayTakeMs - Math.max(tookMs, 1);
    enoughAt = idleSince + Math.max(tookMs, 1) / partOfOthers;
    if (leftMs > 0) resume(leftMs);
    else resumeAfter(turnsApart, enoughAt);
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

/** What Node has, and other platforms may not. */
interface Platform {
  readonly setImmediate?: (task: () => void) => unknown;
  readonly process?: { readonly nextTick?: (task: () => void) => void };
}

const platform = globalThis as Platform;

/** Node has a queue for this. Other platforms have only a timer of at least a millisecond. */
const later = platform.setImmediate ?? ((task: () => void) => setTimeout(task, 0));

const nextTick = platform.process?.nextTick;

/** Runs a task when a slice that has just begun is over. In Node, that is before other work of the event loop. */
const afterSlice =
  nextTick === undefined ? later : (task: () => void) => queueMicrotask(() => nextTick(task));

/** Turns of the event loop from one slice to the next. */
const turnsApart = platform.setImmediate === undefined ? 1 : 4;
