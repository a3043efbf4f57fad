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
  readonly #socket: Socket & { readonly _handle?: Handle | null };
  readonly #countOpen: () => number;

  constructor(socket: Socket, countOpen: () => number) {
    this.#socket = socket;
    this.#countOpen = countOpen;
  }

  /**
   * Not the socket's `bytesWritten`, which counts what waits, too: a session writes what all of its streams have at once, and this may be
   * megabytes.
   */
  get sentBytes(): number {
    const { _handle } = this.#socket; // null: it is closed
    const handle = _handle?._parent ?? _handle;
    return handle == null ? 0 : handle.bytesWritten - handle.writeQueueSize;
  }

  get answers(): number {
    return this.#countOpen();
  }
}
