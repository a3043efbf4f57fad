/**
 * Resolves when the next slice of long work may be done: everything else that waits for the event loop has had its turn, and of
 * all long work that waits here one slice is done in each round, in the order of the calls. So no other call waits for more
 * than one slice, however many callers have such work.
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

const platform = globalThis as { readonly setImmediate?: (task: () => void) => unknown }; // where there is one

/** Node has a queue for this; a timer, of a millisecond at least, is what all platforms have. */
const later = platform.setImmediate ?? ((task: () => void) => setTimeout(task, 0));
