import type { Socket } from "node:net";

/**
 * Bytes that Node's HTTP/1.1 parser gets at a time. It makes objects of all requests and chunks in what it gets before anything
 * else has a turn: of one-byte chunks these bytes hold 2,730.
 */
const sliceBytes = 16 * 1024;

/** A connection that Node's parser reads. */
interface ParsedSocket extends Socket {
  /** Null when Node has let go of the connection. */
  readonly parser?: object | null;
}

/**
 * Lets Node's parser read a connection in slices. It otherwise reads packets of 64 KiB, and all at once what has arrived before
 * the connection got its parser.
 *
 * @param mustWait whether nothing may be read now; `readOn` is called when it may be
 */
export function readInSlices(socket: ParsedSocket, mustWait: (readOn: () => void) => boolean): void {
  const parse = socket.listeners("data") as ((bytes: Buffer) => void)[];
  for (const listener of parse) socket.off("data", listener);
  let isWaiting = false;
  const readOn = (): void => {
    isWaiting = false;
    socket.resume();
  };
  const putBack = (bytes: Buffer): void => {
    socket.pause();
    if (bytes.length > 0) socket.unshift(bytes);
  };
  socket.on("data", (bytes: Buffer) => {
    if (socket.parser == null) return;
    isWaiting ||= mustWait(readOn);
    if (isWaiting) {
      putBack(bytes);
      return;
    }
    for (const listener of parse) listener(bytes.subarray(0, sliceBytes));
    if (socket.destroyed || socket.parser == null) return; // nothing reads the rest
    const rest = bytes.subarray(sliceBytes);
    if (rest.length === 0 && socket.readableLength === 0) return;
    const wasPaused = socket.isPaused();
    putBack(rest);
    // After the tick in which the body gets its chunks, and they are counted.
    if (!wasPaused) process.nextTick(() => socket.resume());
  });
  // Node resumes the connection when a body was read, or an answer was written.
  socket.on("resume", () => {
    if (isWaiting) socket.pause();
  });
}
