/**
 * Resolves when the next slice of long work may begin: after all other work that waits for the event loop. Of all the long
 * work that waits here one slice runs at a time, in the order of the calls, and then none for a few turns of the event loop.
 * A small call takes about that many turns, for its bytes, its commit and its answer: so it waits for one slice or two,
 * however many callers have long work.
 */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) {
      resumeLater(turnsApart);
    }
  });
}

const waiting: (() => void)[] = [];

function resumeLater(turns: number): void {
  later(turns === 1 ? resumeFirst : () => resumeLater(turns - 1));
}

function resumeFirst(): void {
  waiting.shift()?.();
  if (waiting.length > 0) {
    resumeLater(turnsApart);
  }
}

const platform = globalThis as { readonly setImmediate?: (task: () => void) => unknown }; // where it exists

/** Node has a queue for this. Other platforms have only a timer of at least a millisecond. */
const later = platform.setImmediate ?? ((task: () => void) => setTimeout(task, 0));

/** Turns of the event loop from one slice to the next. */
const turnsApart = platform.setImmediate === undefined ? 1 : 4;
