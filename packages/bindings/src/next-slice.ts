/**
 * Resolves when the next slice of long work may begin: after all other work that waits for the event loop. In each turn
 * of the event loop one slice runs, of all the long work that waits here, in the order of the calls. So no other call
 * waits for more than one slice, however many callers have long work.
 */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) {
      later(resumeFirst);
    }
  });
}

const waiting: (() => void)[] = [];

function resumeFirst(): void {
  waiting.shift()?.();
  if (waiting.length > 0) {
    later(resumeFirst);
  }
}

const platform = globalThis as { readonly setImmediate?: (task: () => void) => unknown }; // where it exists

/** Node has a queue for this. Other platforms have only a timer of at least a millisecond. */
const later = platform.setImmediate ?? ((task: () => void) => setTimeout(task, 0));
