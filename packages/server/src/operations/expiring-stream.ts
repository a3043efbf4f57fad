import { a2aError } from "@a2a-connect/core";
import { runtimeKey } from "@a2a-connect/core/internal";
import type { HandlerContext } from "@connectrpc/connect";
import type { Clock } from "../engine/clock.ts";

/**
 * A stream that ends with UNAUTHENTICATED when the credentials of its call expire. Its caller resumes it with fresh ones, after the
 * last event that it has.
 *
 * @param open opens the stream in a context whose signal aborts then
 */
export async function* expiringStream<T>(
  context: HandlerContext,
  expiresAt: number,
  clock: Pick<Clock, "now" | "schedule">,
  open: (context: HandlerContext) => AsyncIterable<T>,
): AsyncGenerator<T, void> {
  const expiry = new AbortController();
  let stop = (): void => {};
  const wait = (): void => {
    const left = expiresAt - clock.now();
    if (left > 0)
      stop = clock.schedule(left, wait, { background: true }); // it may wake early
    else void expire();
  };
  const expire = async (): Promise<void> => {
    await context.values.get(runtimeKey).turnToGoOn?.(); // thousands of streams may have the same credentials
    expiry.abort(a2aError("UNAUTHENTICATED", "the credentials have expired: resume with fresh ones"));
  };
  wait();
  try {
    const { responseTrailer } = context; // a getter, which a copy of own fields does not have
    yield* open({ ...context, responseTrailer, signal: AbortSignal.any([context.signal, expiry.signal]) });
  } finally {
    stop();
  }
}
