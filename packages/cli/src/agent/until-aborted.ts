/** What `work` gives, unless the signal is aborted first: then its reason, and what comes too late is closed. */
export async function untilAborted<T extends AsyncDisposable>(
  signal: AbortSignal,
  work: Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } catch (error) {
    if (signal.aborted) {
      work.then(
        (late) => late[Symbol.asyncDispose](),
        () => {}, // nobody waits for it any more
      );
    }
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
