import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import type { BudgetedBody, ConnectionBodies } from "./body-budget.ts";

/**
 * What a connection has brought before its parser has it: the packet of 64 KiB that tells its protocol, or that its handshake of TLS ends
 * in. The bytes count as those of bodies do. To refuse them is to close the connection.
 */
export class FirstBytes implements BudgetedBody {
  held = 0;
  readonly isRead = false;
  readonly #socket: Pick<Socket, "readableLength" | "destroy">;
  readonly #bodies: ConnectionBodies;
  #isOver = false;

  /** @param socket it is not read any more */
  constructor(socket: Pick<Socket, "readableLength" | "destroy">, bodies: ConnectionBodies) {
    this.#socket = socket;
    this.#bodies = bodies;
    this.#count();
    setImmediate(() => this.#count()); // TLS decrypts the rest of a packet after it has told the end of the handshake
  }

  #count(): void {
    const more = this.#socket.readableLength - this.held;
    if (this.#isOver || more <= 0) return;
    this.held += more;
    this.#bodies.add(this, more);
  }

  refuse(): void {
    this.end();
    this.#socket.destroy();
  }

  /** The parser gets them. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#bodies.remove(this, this.held);
  }
}
