/** Resolves when everything else that waits for the event loop has had its turn: timers, sockets, other calls. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => later(resolve));
}

const platform = globalThis as { readonly setImmediate?: (task: () => void) => unknown }; // where there is one

/** Node has a queue for this; a timer, of a millisecond at least, is what all platforms have. */
const later = platform.setImmediate ?? ((task: () => void) => setTimeout(task, 0));
