/** What a promise gives, unless a signal is aborted first. @throws what the signal was aborted with */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const { promise: isOver, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal?.reason);
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([isOver, work]);
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}
