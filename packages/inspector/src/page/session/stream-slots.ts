/**
 * Streams that the page has open at a time. Over HTTP/1.1 a browser opens six connections to a server, and a stream keeps one: with six
 * of them no call would get through, not even the one that cancels a task.
 */
const maxStreams = 5;

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
