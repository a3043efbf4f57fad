import type { Readable } from "node:stream";

/** How much of an unwanted body is read and thrown away, and for how long, before the caller is cut off. */
const maxDiscardedBytes = 64 * 1024 * 1024;
const maxDiscardMs = 10_000;

/**
 * Read on in a body that nobody wants any more, within bounds. Cutting it off at once would be simpler, but callers
 * that are still sending then tend to lose the response that says why.
 *
 * @param cut ends the stream or connection of a caller that does not stop
 */
export function discardBody(source: Readable, cut: () => void): void {
  if (source.readableEnded || source.destroyed) return;
  let discarded = 0;
  const timer = setTimeout(cut, maxDiscardMs).unref();
  const stop = (): void => clearTimeout(timer);
  source.on("data", (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > maxDiscardedBytes) cut();
  });
  source.once("end", stop).once("close", stop);
  source.resume();
}
