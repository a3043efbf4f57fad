import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/**
 * What a parser of Node's gets in the place of a socket that it is not to read itself: what Node uses of a stream (`asStream`), without the
 * buffers of one, which would make each call take half as long again. Those that extend it give the parser what comes ("data"), and tell the end of
 * the connection ("close").
 */
export abstract class SocketWire extends EventEmitter {
  protected readonly socket: Socket;

  constructor(socket: Socket) {
    super();
    this.socket = socket;
    socket.on("end", () => this.emit("end")).on("error", (error) => this.emit("error", error));
  }

  get asStream(): Duplex {
    return this as unknown as Duplex;
  }

  abstract pause(): void;

  abstract resume(): void;

  cork(): void {
    this.socket.cork();
  }

  uncork(): void {
    this.socket.uncork();
  }

  /**
   * A failure is told by "error" alone. TLS that hears of it here, too, tells it a second time, behind "close", when undici has let go of it.
   *
   * @param done Deno gives none for HTTP/2
   */
  write(chunk: Uint8Array, done?: () => void): boolean {
    return this.socket.write(chunk, () => done?.());
  }

  end(done?: () => void): void {
    this.socket.end(done);
  }

  destroy(): void {
    this.socket.destroy();
  }
}
