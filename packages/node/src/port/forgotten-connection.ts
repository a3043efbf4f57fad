import type { Socket } from "node:net";

/**
 * Cuts a connection when it was not read for so long, and nothing was written to it either. While it is not read, it is not seen that its
 * caller has gone, and what it has would stay.
 *
 * @param timeoutMs 0: never
 * @param isHeld whether it is not read
 */
export function cutWhenForgotten(socket: Socket, timeoutMs: number, isHeld: () => boolean): void {
  if (timeoutMs === 0) return;
  let before = -1;
  const look = (): void => {
    const bytes = socket.bytesRead + socket.bytesWritten;
    if (bytes === before && isHeld()) socket.destroy();
    before = bytes;
  };
  const timer = setInterval(look, timeoutMs).unref();
  socket.once("close", () => clearInterval(timer));
}
