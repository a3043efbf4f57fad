import { setImmediate as nextImmediate } from "node:timers/promises";
import type { Clock } from "@a2a-connect/server";

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /**
   * Moves the clock forward by `ms`. It rings the alarms that are due on the way, in order, and waits after each until
   * its consequences have settled. A background alarm rings once, at the end, however often it was due, so that years
   * pass quickly.
   */
  advance(ms: number): Promise<void>;
  /**
   * Waits until promises have settled and the turns of the event loop that code asked for have passed. It does not see
   * code that waits for a thread or a socket: await that yourself.
   *
   * @throws Error when the work does not end
   */
  settle(): Promise<void>;
  /** How many alarms are set, without background alarms. */
  readonly alarms: number;
}

interface Alarm {
  readonly at: number;
  readonly ring: () => void;
  readonly background: boolean;
}

/** More turns of the event loop than any test needs: then the work does not end. */
const maxTurns = 100_000;

/** @param start milliseconds since 1970; default 2026-01-01 */
export function createFakeClock(start: number = Date.UTC(2026, 0, 1)): FakeClock {
  const alarms = new Set<Alarm>();
  let now = start;
  let turnsTaken = 0;

  function dueBy(until: number, inBackground: boolean): Alarm[] {
    return [...alarms].filter(({ at, background }) => at <= until && background === inBackground);
  }

  function nextDue(until: number): Alarm | undefined {
    const [first] = dueBy(until, false).sort((one, other) => one.at - other.at);
    return first;
  }

  async function ring(alarm: Alarm): Promise<void> {
    alarms.delete(alarm);
    alarm.ring();
    await settle();
  }

  async function ringDue(until: number): Promise<void> {
    for (let alarm = nextDue(until); alarm !== undefined; alarm = nextDue(until)) {
      now = Math.max(now, alarm.at);
      await ring(alarm);
    }
  }

  async function settle(): Promise<void> {
    for (let turns = 0; turns < maxTurns; turns += 1) {
      const before = turnsTaken;
      await nextImmediate();
      if (before === turnsTaken) return;
    }
    throw new Error(`something is still going on after ${maxTurns} turns of the event loop`);
  }

  return {
    now: () => now,
    ticks: () => now - start,
    schedule(delayMs, ring, { background = false } = {}) {
      const alarm = { at: now + Math.max(0, delayMs), ring, background };
      alarms.add(alarm);
      return () => alarms.delete(alarm);
    },
    async nextTurn() {
      turnsTaken += 1;
      await nextImmediate();
      turnsTaken += 1;
    },
    async advance(ms) {
      const until = now + ms;
      await settle();
      await ringDue(until);
      now = until;
      for (const alarm of dueBy(until, true)) {
        await ring(alarm);
      }
      await ringDue(until);
    },
    settle,
    get alarms() {
      return [...alarms].filter(({ background }) => !background).length;
    },
  };
}
