import { Wakes } from "@a2a-connect/core/internal";
import type { Clock } from "./clock.ts";

/** What engines wake, each kind in turns of its own. */
export interface EngineWakes {
  /** Those who read a task, when there is something new. Each formats and writes what it has waited for. */
  readonly readers: Wakes;
  /**
   * Calls that have waited for the same: repeats of a request for what the first decides (each reads its key, and then the task, or is the
   * first now), and calls with one task for its load.
   */
  readonly calls: Wakes;
  /** Reads of tasks and lists that waited for others. Each decodes up to 128 KiB before it has a turn of its own. */
  readonly reads: Wakes;
  /** Executors, at each event that they yield and each step: hundreds may go on at the same moment. */
  readonly executors: Wakes;
  /** Loads of tasks without a caller, at a start and when timers are due. */
  readonly loads: Wakes;
  /** Batches of expired rows that are removed, one in a turn. */
  readonly sweeps: Wakes;
}

const known = new WeakMap<object, EngineWakes>();

/** Those of all engines with this clock: they share the event loop, and a caller may have tasks at each. */
export function findWakes(clock: Pick<Clock, "nextTurn" | "ticks">): EngineWakes {
  const wakes = known.get(clock) ?? {
    readers: new Wakes(clock, 256),
    calls: new Wakes(clock, 64),
    reads: new Wakes(clock, 8),
    executors: new Wakes(clock, 512),
    loads: new Wakes(clock, 32),
    sweeps: new Wakes(clock, 1),
  };
  known.set(clock, wakes);
  return wakes;
}
