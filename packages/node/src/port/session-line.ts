import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { SharedLine } from "./send-response.ts";

/** What Node itself knows of a connection. */
interface Handle {
  readonly bytesWritten: number;
  /** Bytes of these that the system has not taken. */
  readonly writeQueueSize: number;
  /** That of the connection below TLS. The one of TLS counts a write when the system has taken all of it. */
  readonly _parent?: Handle;
}

/** What the answers of a session share. */
export class SessionLine implements SharedLine {
  readonly #session: Pick<ServerHttp2Session, "destroyed" | "socket">;
  readonly #countOpen: () => number;

  constructor(session: Pick<ServerHttp2Session, "destroyed" | "socket">, countOpen: () => number) {
    this.#session = session;
    this.#countOpen = countOpen;
  }

  /**
   * Not the socket's `bytesWritten`, which counts what waits, too: a session writes what all of its streams have at once, and this may be
   * megabytes.
   */
  get sentBytes(): number {
    if (this.#session.destroyed) return 0;
    const { _handle } = this.#session.socket as Socket & { readonly _handle?: Handle | null }; // null: it is closed
    const handle = _handle?._parent ?? _handle;
    return handle == null ? 0 : handle.bytesWritten - handle.writeQueueSize;
  }

  get answers(): number {
    return this.#countOpen();
  }
}
