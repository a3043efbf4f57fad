import type { ServerHttp2Session } from "node:http2";

/**
 * Asks a peer for one more frame: for the answer to a PING, or to a SETTINGS without any setting. After a GOAWAY of either side the streams
 * go on, but Node sends no PING any more.
 *
 * @param onAnswer called in the turn in which the answer was read; never when the session has ended before
 * @returns whether it was asked. It is not while it owes the answer to other settings.
 */
export function askPeer(session: ServerHttp2Session, onAnswer: () => void): boolean {
  const answered = (error: Error | null): void => {
    if (error === null) onAnswer();
  };
  if (!session.closed) return session.ping(answered);
  if (session.pendingSettingsAck) return false; // Node ends a session with ten of them
  session.settings({}, answered);
  return true;
}
