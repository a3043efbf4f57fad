/** What came of work that was given a time. */
export interface Timed {
  readonly complete: boolean;
  readonly elapsedMs: number;
}

/** Waits for `work`, for `limitMs` at most; work that is late goes on, and its failure is nobody's. */
export async function within(work: Promise<unknown>, limitMs: number): Promise<Timed> {
  const started = performance.now();
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), limitMs);
  try {
    const complete = await Promise.race([work.then(() => true), late.promise]);
    if (!complete) {
      work.catch(() => {});
    }
    return { complete, elapsedMs: performance.now() - started };
  } finally {
    clearTimeout(timer);
  }
}
