import { setImmediate as nextTurn } from "node:timers/promises";

/** So long one caller's text is worked on before others come. */
const sliceMs = 5;

/** Resolves when all who have asked for a slice have had one. */
let queue: Promise<void> = Promise.resolve();

/**
 * Cuts long work into slices, between which the server answers other calls. A turn of the event loop has one slice,
 * however many callers have long work.
 *
 * @returns a function to call between two pieces of the work: it waits when the slice is over, and throws when `signal`
 * is aborted
 */
export function createSlices(signal: AbortSignal): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began > sliceMs) {
      queue = queue.then(() => nextTurn());
      await queue;
      signal.throwIfAborted();
      began = performance.now();
    }
  };
}
