import type { Socket } from "node:net";

/** A parser of Node's reads in a socket's place. Only what Node calls `_handle` can tell it to stop. */
interface ReadSocket extends Socket {
  readonly _handle?: { readonly reading?: boolean; readStart(): void; readStop(): void } | null;
}

/** The connections of one caller. */
class CallerConnections {
  readonly sockets = new Set<ReadSocket>();
  /** Begin those that are new, and bring requests already. */
  readonly waiting: (() => void)[] = [];
  /** Go on with connections that have brought more than could be read. */
  readonly unread: (() => void)[] = [];
  arrived = 0;
  stopped = false;

  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    for (const { _handle } of this.sockets) _handle?.readStop();
  }

  /** One of the connections that wait goes on or begins. What it has brought arrives with that, and counts in this turn. */
  nextTurn(): void {
    this.arrived = 0;
    this.#read();
    const next = this.unread.length > 0 ? this.unread : this.waiting;
    next.shift()?.();
  }

  get isWaiting(): boolean {
    return this.stopped || this.unread.length > 0 || this.waiting.length > 0;
  }

  /** Its connections are read in the turn after the next. */
  sitOut(): void {
    this.arrived = 0;
  }

  #read(): void {
    if (!this.stopped) return;
    this.stopped = false;
    for (const socket of this.sockets) startReading(socket);
  }
}

function startReading({ _handle }: ReadSocket): void {
  if (_handle?.reading !== false) _handle?.readStart(); // false: it was paused
}

/**
 * Reads the connections of a port so that few requests arrive in one turn of the event loop. Node makes objects of all
 * requests that wait in all connections, before anything else has its turn: thousands of connections may have sent
 * thousands of requests each, or bodies in frames or chunks of one byte.
 *
 * When one caller has brought half of what may arrive in a turn, its connections are not read until the next turn. When all of it
 * has come, no connection is read, and in the next turn only those that brought nothing. A parser always reads what it has got to the
 * end: 16 KiB of HTTP/1.1 (`Pipeline.read`), a packet of HTTP/2, 64 KiB at most.
 */
export class Arrivals {
  readonly #maxInATurn: number;
  readonly #callers = new Map<object, CallerConnections>();
  #arrived = 0;
  #isScheduled = false;

  constructor(maxInATurn: number) {
    this.#maxInATurn = maxInATurn;
  }

  /**
   * From here on the connection is read in turns.
   *
   * @param begin gives it to its parser, now or when requests may arrive again
   */
  join(caller: object, socket: Socket, begin: () => void): void {
    const connections = this.#callers.get(caller) ?? new CallerConnections();
    this.#callers.set(caller, connections);
    connections.sockets.add(socket);
    socket.once("close", () => this.#forget(caller, connections, socket));
    if (!connections.stopped && connections.waiting.length === 0 && this.#arrived < this.#maxInATurn) {
      begin();
      return;
    }
    socket.on("error", () => undefined); // without a parser it has no listener
    connections.waiting.push(begin);
    this.#schedule();
  }

  /** From here on the connection is not read in turns any more. */
  leave(caller: object, socket: Socket): void {
    const connections = this.#callers.get(caller);
    if (connections?.sockets.has(socket) !== true) return;
    this.#forget(caller, connections, socket);
    if (connections.stopped) startReading(socket);
  }

  #forget(caller: object, connections: CallerConnections, socket: Socket): void {
    connections.sockets.delete(socket);
    if (connections.sockets.size === 0 && this.#callers.get(caller) === connections) {
      this.#callers.delete(caller);
    }
  }

  /**
   * Whether what a connection has brought must wait, because the caller's connections are not read in this turn any more.
   *
   * @param readOn called when they are read again
   */
  mustWait(caller: object, readOn: () => void): boolean {
    const connections = this.#callers.get(caller);
    if (connections?.stopped !== true) return false;
    connections.unread.push(readOn);
    return true;
  }

  /** Something of this cost has arrived. */
  count(caller: object, cost: number): void {
    this.#schedule();
    const hadRoom = this.#arrived < this.#maxInATurn;
    this.#arrived += cost;
    if (hadRoom && this.#arrived >= this.#maxInATurn) {
      for (const each of this.#callers.values()) each.stop();
    }
    const connections = this.#callers.get(caller);
    if (connections === undefined) return;
    connections.arrived += cost;
    if (connections.arrived >= this.#maxInATurn / 2) connections.stop();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    // The system tells in a fixed order which connections have something to read. So when the first of them bring all that may
    // arrive in a turn, the others are read alone in the next one.
    const wasFull = this.#arrived >= this.#maxInATurn;
    this.#arrived = 0;
    this.#isScheduled = false;
    for (const each of this.#callers.values()) {
      if (wasFull && each.arrived > 0) each.sitOut();
      else each.nextTurn();
      if (each.isWaiting) this.#schedule();
    }
  }
}
