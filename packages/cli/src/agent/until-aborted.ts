/** What `work` gives, unless the signal is aborted first: then its reason, and what comes too late is closed. */
export async function untilAborted<T extends AsyncDisposable>(
  signal: AbortSignal,
  work: Promise<T>,
): Promise<T> {
  try {
    return await orAborted(signal, work);
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

/** What `work` gives, unless the signal is aborted first: then its reason, whatever becomes of the work. */
export async function orAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
