import { untilAborted } from "@a2a-connect/core/internal";

/** What `work` opens, unless the signal is aborted first: then its reason, and what comes too late is closed. */
export async function openUntilAborted<T extends AsyncDisposable>(
  signal: AbortSignal,
  work: Promise<T>,
): Promise<T> {
  try {
    return await untilAborted(work, signal);
  } catch (error) {
    if (signal.aborted) {
      work.then(
        (late) => late[Symbol.asyncDispose](),
        () => {}, // nobody waits for it any more
      );
    }
    throw error;
  }
}
