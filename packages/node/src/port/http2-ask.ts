import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";

/** The slowest line whose peer is waited for, in bytes a millisecond. */
const slowestLine = 16;

/** How much longer than others the peer of a slow line may take to answer, in milliseconds. */
const maxDelayMs = 5 * 60_000;

/** Asks the peer of a session for frames, by which it shows that it is there. */
export class PeerQuestions {
  readonly #session: ServerHttp2Session;
  readonly #socket: Pick<Socket, "bytesWritten">;
  /** Bytes that the peer has read for certain: what was written before the last question that it has answered. */
  #readBytes = 0;

  constructor(session: ServerHttp2Session, socket: Pick<Socket, "bytesWritten">) {
    this.#session = session;
    this.#socket = socket;
  }

  /**
   * How much later the answer to a question of now may come. What was written before comes first: answers of megabytes, of which the buffers
   * of systems and proxies hold much, while the peer need not send anything.
   */
  get delayMs(): number {
    return Math.min((this.#socket.bytesWritten - this.#readBytes) / slowestLine, maxDelayMs);
  }

  /**
   * Asks for one more frame: for the answer to a PING, or to a SETTINGS without any setting. After a GOAWAY of either side the streams
   * go on, but Node sends no PING any more.
   *
   * @param onAnswer called in the turn in which the answer was read; never when the session has ended before
   * @returns whether it was asked. It is not while it owes the answer to other settings.
   */
  ask(onAnswer: () => void): boolean {
    const session = this.#session;
    const { bytesWritten } = this.#socket;
    const answered = (error: Error | null): void => {
      if (error !== null) return;
      this.#readBytes = bytesWritten;
      onAnswer();
    };
    if (!session.closed) return session.ping(answered);
    if (session.pendingSettingsAck) return false; // Node ends a session with ten of them
    session.settings({}, answered);
    return true;
  }
}
