import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { Arrivals } from "./arrivals.ts";
import type { BodyAccount } from "./body-budget.ts";
import { Starts } from "./starts.ts";

/** How long handshakes may work in one turn of the event loop, in milliseconds; half of it those of one address. */
const workInATurnMs = 10;

/**
 * Lets few handshakes of TLS work in one turn of the event loop. Node does the work of each as soon as its bytes have arrived,
 * and each flight of the client may cost a signature: its first, one after a HelloRetryRequest, the key exchange of TLS 1.2.
 *
 * First flights take turns. Until a handshake is complete its connection is read in turns, too: TLS tells the keys that it
 * derives ("keylog"), which it does once before or after each such work. The keys themselves are not looked at.
 */
export class Handshakes {
  readonly #maxInATurn: number;
  readonly #starts: Starts;
  readonly #work = new Arrivals(workInATurnMs);
  /** End the pacing of connections, by the address of the other side. */
  readonly #open = new Map<string, () => void>();
  #lastWork: number | undefined;

  /** @param maxInATurn flights that are worked on in one turn; fewer when they take long */
  constructor(maxInATurn: number) {
    this.#maxInATurn = maxInATurn;
    this.#starts = new Starts(maxInATurn);
  }

  /** @param begin begins TLS; its first flight has arrived */
  async begin(account: BodyAccount, socket: Socket, begin: () => void): Promise<void> {
    const { caller } = account;
    socket.on("error", () => undefined); // while it waits it has no other listener
    await this.#starts.turn(account);
    const peer = formatPeer(socket);
    this.#open.set(peer, () => this.#work.leave(caller, socket));
    socket.once("close", () => this.#open.delete(peer));
    this.#work.join(caller, socket, begin);
  }

  /** TLS tells a key. */
  countWork({ caller }: BodyAccount, line: Buffer): void {
    if (!/^(?:CLIENT_RANDOM|SERVER_HANDSHAKE)/.test(line.toString("latin1", 0, 16))) return; // TLS 1.3 tells further ones
    const now = performance.now();
    if (this.#lastWork === undefined) {
      setImmediate(() => {
        this.#lastWork = undefined;
      });
    }
    const sinceLast = now - (this.#lastWork ?? now);
    this.#lastWork = now;
    this.#work.count(caller, Math.max(sinceLast, workInATurnMs / this.#maxInATurn));
  }

  /** The handshake of a connection is complete. */
  complete(socket: TLSSocket): void {
    const peer = formatPeer(socket);
    this.#open.get(peer)?.();
    this.#open.delete(peer);
  }
}

function formatPeer({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
