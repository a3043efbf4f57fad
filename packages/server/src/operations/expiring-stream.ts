import { a2aError } from "@a2a-connect/core";
import { runtimeKey } from "@a2a-connect/core/internal";
import type { HandlerContext } from "@connectrpc/connect";
import type { Clock } from "../engine/clock.ts";
import { lateStream } from "./late-stream.ts";

/**
 * A stream that ends with UNAUTHENTICATED when the credentials of its call expire. Its caller resumes it with fresh ones, after the
 * last event that it has.
 *
 * @param open opens the stream in a context whose signal aborts then
 */
export function expiringStream<T>(
  context: HandlerContext,
  expiresAt: number,
  clock: Pick<Clock, "now" | "schedule">,
  open: (context: HandlerContext) => AsyncIterable<T>,
): AsyncIterableIterator<T> {
  return lateStream((onEnd) => {
    const expiry = startExpiry(context, expiresAt, clock);
    onEnd(expiry.stop);
    const { responseTrailer } = context; // a getter, which a copy of own fields does not have
    const signal = AbortSignal.any([context.signal, expiry.signal]);
    return open({ ...context, responseTrailer, signal });
  });
}

/** In a function of its own: what it waits with knows nothing of `open`, which has the request. */
function startExpiry(
  context: HandlerContext,
  expiresAt: number,
  clock: Pick<Clock, "now" | "schedule">,
): { readonly signal: AbortSignal; readonly stop: () => void } {
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
  return { signal: expiry.signal, stop: () => stop() };
}
