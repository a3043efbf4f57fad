import type { Socket } from "node:net";

/** How often connections are looked at, in milliseconds. */
const lookEveryMs = 5 * 60_000;

/**
 * Cuts a connection that was not read from one look to the next, when nothing was written to it either. While it is not read, it is not seen
 * that its caller has gone, and what it has would stay.
 *
 * @param isHeld whether it is not read
 */
export function cutWhenForgotten(socket: Socket, isHeld: () => boolean): void {
  let before = -1;
  const look = (): void => {
    const bytes = socket.bytesRead + socket.bytesWritten;
    if (bytes === before && isHeld()) socket.destroy();
    before = bytes;
  };
  const timer = setInterval(look, lookEveryMs).unref();
  socket.once("close", () => clearInterval(timer));
}
