import type { Socket } from "node:net";

/** How often connections are looked at, in milliseconds. */
const lookEveryMs = 5 * 60_000;

/**
 * Cuts a connection that was not read from one look to the next, when nothing was written to it either. While it is not read, it is not seen
 * that its caller has gone, and what it has would stay.
 *
 * @param isHeld whether it is not read because requests wait. Default: always, when it is not read
 */
export function cutWhenForgotten(socket: Socket, isHeld: () => boolean = () => true): void {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const countBytes = (): number => socket.bytesRead + socket.bytesWritten;
  socket.once("close", stop).on("pause", () => {
    if (timer !== undefined) return;
    let before = countBytes();
    const look = (): void => {
      const bytes = countBytes();
      if (!socket.isPaused()) stop();
      else if (bytes === before && isHeld()) socket.destroy();
      before = bytes;
    };
    timer = setInterval(look, lookEveryMs).unref();
  });
}
