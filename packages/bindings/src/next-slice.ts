import { CallerQueue, isAccepting } from "@a2a-connect/core/internal";

const waiting = new CallerQueue<() => void>();

/**
 * Resolves when the next slice of long work may begin: after all other work that waits for the event loop. Of all the long
 * work that waits here one slice runs at a time, and then none for a few turns of the event loop. A small call takes about that
 * many turns, for its bytes, its commit and its answer: so it waits for one slice or two, however many callers have long work.
 *
 * Callers take turns, so that one that reads many large answers delays its own only. No slice begins in a turn for new connections
 * alone (`isAccepting`).
 *
 * @param caller whose work it is, an object or a name; undefined: all such work takes turns with that of callers, as if it were one caller's
 */
export function nextSlice(caller: object | string | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.isEmpty) {
      resumeLater(turnsApart);
    }
    waiting.push(caller, resolve);
  });
}

function resumeLater(turns: number): void {
  later(turns === 1 ? resumeFirst : () => resumeLater(turns - 1));
}

function resumeFirst(): void {
  if (isAccepting()) {
    resumeLater(1);
    return;
  }
  waiting.shift()?.();
  if (!waiting.isEmpty) {
    resumeLater(turnsApart);
  }
}

const platform = globalThis as { readonly setImmediate?: (task: () => void) => unknown }; // where it exists

/** Node has a queue for this. Other platforms have only a timer of at least a millisecond. */
const later = platform.setImmediate ?? ((task: () => void) => setTimeout(task, 0));

/** Turns of the event loop from one slice to the next. */
const turnsApart = platform.setImmediate === undefined ? 1 : 4;
