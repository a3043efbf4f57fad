import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import type { TLSSocket } from "node:tls";
import { Arrivals } from "./arrivals.ts";
import type { CallerConnection } from "./callers.ts";
import { EventLoopTurns } from "./event-loop-turns.ts";
import { loopTurns } from "./loop-turns.ts";

/** How long handshakes may work in one turn of the event loop, in milliseconds; half of it those of one address. */
const workInATurnMs = 10;

/** New keys that one connection may choose after its handshake. Clients that do choose them do so after 2^24 records or more. */
const maxNewKeys = 100;

/** A connection in TLS. Only what Node calls `_handle` can stop it while Node reads. */
interface ReadSocket extends Socket {
  readonly _handle?: { readStart(): void; readStop(): void } | null;
}

/**
 * Lets few handshakes of TLS work in one turn of the event loop. Node does the work of each as soon as its bytes have arrived,
 * and each flight of the client may cost a signature: its first, one after a HelloRetryRequest, the key exchange of TLS 1.2.
 *
 * First flights take turns. Some turns are for new connections alone, so that those of other callers do not wait behind hundreds.
 * Until a handshake is complete its connection is read in turns, too: TLS tells the keys that it
 * derives ("keylog"), which it does once before or after each such work, and the end: a flight may fail after 2 ms, and before there is
 * a key. The keys themselves are not looked at.
 *
 * Of clients' certificates TLS tells nothing until the handshake ends, and a client may hold back the end of it for ever: OpenSSL verifies
 * them before. So where clients are asked for them, one connection of an address is read in a turn.
 *
 * After the handshake a client of TLS 1.3 may ask for new keys with 27 bytes (KeyUpdate, RFC 8446 §4.6.3), as often as it likes,
 * and Node tells of nothing but the keys. These count as requests do, and a connection with too many of them is cut.
 */
export class Handshakes {
  readonly #maxInATurn: number;
  readonly #onFault: (fault: unknown) => void;
  readonly #starts: EventLoopTurns;
  readonly #work: Arrivals;
  readonly #newKeys = new WeakMap<TLSSocket, number>();
  /** End the pacing of connections, by the address of the other side. */
  readonly #open = new Map<string, () => void>();
  #lastWork: number | undefined;

  /**
   * @param maxInATurn flights that are worked on in one turn; fewer when they take long
   * @param asksCertificates whether clients are asked for certificates
   * @param onFault takes what the begin of one throws
   */
  constructor(maxInATurn: number, asksCertificates: boolean, onFault: (fault: unknown) => void) {
    this.#maxInATurn = maxInATurn;
    this.#onFault = onFault;
    this.#work = new Arrivals(workInATurnMs, { isOneAtATime: asksCertificates });
    this.#starts = new EventLoopTurns(maxInATurn, () => loopTurns.isAccepting);
  }

  /** @param begin begins TLS; its first flight has arrived */
  async begin(connection: CallerConnection, socket: ReadSocket, begin: () => void): Promise<void> {
    const { caller } = connection;
    socket.on("error", () => undefined); // while it waits it has no other listener
    const turn = this.#starts.turn(connection);
    if (turn !== undefined) {
      socket._handle?.readStop(); // nothing would count what it brings meanwhile
      const first = connection.holdFirstBytes(socket);
      await turn;
      first.end();
      socket._handle?.readStart();
    }
    if (socket.destroyed) return;
    const peer = formatPeer(socket);
    this.#open.set(peer, () => this.#work.leave(caller, socket));
    socket.once("close", () => this.#open.delete(peer));
    connection.joinTurns(this.#work, socket, begin, this.#onFault);
  }

  /** TLS tells a key. */
  countKey(connection: CallerConnection, line: Buffer, socket: TLSSocket): void {
    const label = line.toString("latin1", 0, line.indexOf(" "));
    if (label === "CLIENT_TRAFFIC_SECRET_N") this.#countNewKey(connection, socket);
    else if (/^(?:CLIENT_RANDOM|SERVER_HANDSHAKE)/.test(label)) this.#countWork(connection.caller); // TLS 1.3 tells further ones
  }

  #countNewKey(connection: CallerConnection, socket: TLSSocket & ReadSocket): void {
    const count = (this.#newKeys.get(socket) ?? 0) + 1;
    this.#newKeys.set(socket, count);
    connection.countRequest();
    if (count < maxNewKeys) return;
    socket._handle?.readStop();
    if (count === maxNewKeys) setImmediate(() => socket.destroy()); // not now: OpenSSL is at work on the connection
  }

  #countWork(caller: object): void {
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

  /**
   * The handshake of a connection is complete, or has failed. TLS 1.3 tells no key of the client's last flight, but that may have a
   * chain of certificates which takes half a second: it is only known now.
   */
  end(connection: CallerConnection, socket: Socket): void {
    this.#countWork(connection.caller);
    this.#work.attributeTurn(connection.caller);
    const peer = formatPeer(socket);
    this.#open.get(peer)?.();
    this.#open.delete(peer);
  }
}

function formatPeer({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
