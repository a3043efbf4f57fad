import type { ServerHttp2Session } from "node:http2";
import type { ListenLimits } from "./listen-options.ts";

/**
 * Notice a peer that has vanished while it has streams open: gRPC has no keep-alive messages, so nobody would write to it.
 *
 * After `pingIntervalMs` it gets a PING; when nothing at all has come from it `pingTimeoutMs` later, neither the answer
 * nor anything else (a slow line may hold the PING back), the session is destroyed with its streams; else it is left
 * alone for another interval. A session without streams is left to `idleSessionTimeoutMs`.
 */
export function watchPeer(
  session: ServerHttp2Session,
  { pingIntervalMs, pingTimeoutMs }: Pick<ListenLimits, "pingIntervalMs" | "pingTimeoutMs">,
  hasStreams: () => boolean,
): void {
  if (pingIntervalMs === 0) return;
  let timer: NodeJS.Timeout;
  rest();
  session.once("close", () => clearTimeout(timer));

  function rest(): void {
    timer = setTimeout(() => (hasStreams() ? ask() : rest()), pingIntervalMs).unref();
  }

  function ask(): void {
    if (session.destroyed) return;
    const { bytesRead } = session.socket;
    session.ping(() => undefined); // its answer counts like everything else that comes
    // After a stall of our own the answer may still wait to be read: timers come before sockets, immediates after.
    timer = setTimeout(() => setImmediate(judge, bytesRead), pingTimeoutMs).unref();
  }

  function judge(heardBefore: number): void {
    if (session.destroyed) return;
    if (session.socket.bytesRead === heardBefore) session.destroy();
    else rest();
  }
}
