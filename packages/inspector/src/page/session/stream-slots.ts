import { weigh } from "@a2a-connect/client/internal";
import type { StreamResponse } from "@a2a-connect/proto";

/**
 * Streams that the page has open at a time. Over HTTP/1.1 a browser opens six connections to a server, and a stream keeps one: with six
 * of them no call would get through, not even the one that cancels a task.
 */
const maxStreams = 5;

/** What the page keeps of one stream, about, in bytes. An agent may send without end. */
const maxKeptBytes = 64 * 2 ** 20;

/** What an event takes beside its content. */
const eventBytes = 500;

/** Counts what a stream brings. @throws Error when it is more than the page keeps */
export function countKept(): (event: StreamResponse) => void {
  let kept = 0;
  return ({ payload }) => {
    kept += eventBytes + weigh(payload.value);
    if (kept > maxKeptBytes) {
      throw new Error("The agent has sent more than this page keeps of a stream. The task may go on.");
    }
  };
}

/** What ends each open stream, the oldest first. */
const open = new Set<() => void>();

/**
 * Takes a place for a stream; the oldest of too many loses its own.
 *
 * @param lose called when another stream takes the place
 */
export function takeStreamSlot(lose: () => void): Disposable {
  open.add(lose);
  const [oldest] = open;
  if (open.size > maxStreams && oldest !== undefined) {
    open.delete(oldest);
    oldest();
  }
  return { [Symbol.dispose]: () => void open.delete(lose) };
}
