import type { ServerHttp2Session } from "node:http2";
import type { ListenLimits } from "./listen-options.ts";

/**
 * Detects a peer that has vanished while it has streams open. gRPC has no keep-alive messages, so without this no write
 * would fail.
 *
 * After `pingIntervalMs` the peer gets a PING. When nothing has come from it `pingTimeoutMs` later (neither the answer
 * nor other bytes, because a slow line may delay the PING), the session is destroyed with its streams. Otherwise the
 * next PING follows after another interval. A session without streams ends by `idleSessionTimeoutMs`.
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
    session.ping(() => undefined); // its answer counts like all other bytes
    // After this process was blocked, the answer may still wait to be read: timers run before sockets, immediates
    // after.
    timer = setTimeout(() => setImmediate(judge, bytesRead), pingTimeoutMs).unref();
  }

  function judge(heardBefore: number): void {
    if (session.destroyed) return;
    if (session.socket.bytesRead === heardBefore) session.destroy();
    else rest();
  }
}
