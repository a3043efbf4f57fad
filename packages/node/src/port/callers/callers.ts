import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { type Holding, type SharedBudget, shareByLimits } from "@a2a-connect/core/internal";
import { findUnreadAnswers } from "@a2a-connect/server/internal";
import { toNetwork } from "../../network/caller-network.ts";
import type { ListenLimits } from "../listen-options.ts";
import { Arrivals } from "./arrivals.ts";
import { type Bodies, BodyBudget, type ConnectionBodies } from "./body-budget.ts";
import { type Begin, BodyTurns } from "./body-turns.ts";
import { EventLoopTurns } from "./event-loop-turns.ts";
import { loopTurns } from "./loop-turns.ts";
import { WriteBuffers } from "./write-buffers.ts";

/** Bytes of bodies that are made into messages in one turn of the event loop; a longer one takes several. */
const smallBodyBytes = 64 * 1024;

/** Requests that are read in one turn of the event loop, of all connections. */
const maxArrivalsInATurn = 256;

/** Of each kind of turn without a number of its own, how many there are in one turn of the event loop, for all connections. */
export const maxTurns = 64;

/** Pieces of streamed answers that are made in one turn of the event loop, of all connections. */
const maxPiecesInATurn = 256;

/** What a piece of a request's body costs of what may arrive; a request costs 1. */
const pieceCost = 1 / 8;

/** All connections from one address. */
export interface Caller {
  /** An IPv4 address, or an IPv6 network of 64 bits; "" when the connections have none. */
  readonly address: string;
  /** Of its requests, over all its connections. */
  readonly bodies: Bodies;
  connections: number;
}

type Limits = Pick<ListenLimits, "maxUnreadBytes" | "maxBodyBytesPerConnection" | "maxTotalBodyBytes">;

/**
 * The callers of all ports and mounts with the same limits, and what they share: the turns of the event loop, and the memory of bodies
 * and answers. Each of these has a file here, and none lets one caller take what others need. All other code asks its `CallerConnection`.
 */
export class Callers {
  readonly arrivals: Arrivals = new Arrivals(maxArrivalsInATurn);
  /** These five are explained at the methods of `CallerConnection`: `turnBeforeRequest` is the one of `beforeRequest`. */
  readonly beforeRequest: EventLoopTurns = this.#createTurns();
  readonly afterShortBody: EventLoopTurns = this.#createTurns();
  readonly toGoOn: EventLoopTurns = this.#createTurns();
  /** Hundreds of streams may have a hundred pieces at the same moment. */
  readonly beforePiece: EventLoopTurns = this.#createTurns(maxPiecesInATurn);
  readonly beforeEnd: EventLoopTurns = this.#createTurns();
  /** A small body waits for no large one. */
  readonly beforeMessage: { readonly small: BodyTurns; readonly large: BodyTurns } = {
    small: new BodyTurns(smallBodyBytes),
    large: new BodyTurns(0),
  };
  readonly unread: SharedBudget;
  readonly buffers: WriteBuffers;
  readonly #bodies: BodyBudget;
  readonly #connections = new WeakMap<EventEmitter, CallerConnection>();
  readonly #callers = new Map<string, Caller>();

  constructor(limits: Limits) {
    const { maxUnreadBytes } = limits;
    this.unread = findUnreadAnswers({ maxUnreadBytes });
    this.buffers = new WriteBuffers(maxUnreadBytes);
    this.#bodies = new BodyBudget(limits);
  }

  /** The connection that comes over a socket. */
  ofSocket(socket: Socket): CallerConnection {
    return this.connectionOf(socket, () => socket.remoteAddress);
  }

  /**
   * @param connection a socket, or the session of HTTP/2: what closes with the connection
   * @param remoteAddress asked once for each connection
   */
  connectionOf(connection: EventEmitter, remoteAddress: () => string | undefined): CallerConnection {
    let known = this.#connections.get(connection);
    if (known === undefined) {
      const caller = this.#join(connection, toNetwork(remoteAddress()) ?? "");
      known = new CallerConnection(this, caller, this.#bodies.open(caller.bodies));
      this.#connections.set(connection, known);
    }
    return known;
  }

  #createTurns(maxInATurn = maxTurns): EventLoopTurns {
    return new EventLoopTurns(maxInATurn, () => loopTurns.isAccepting);
  }

  #join(connection: EventEmitter, address: string): Caller {
    let caller = this.#callers.get(address);
    if (caller === undefined) {
      caller = { address, bodies: this.#bodies.openCaller(), connections: 0 };
      this.#callers.set(address, caller);
    }
    const { bodies } = caller;
    caller.connections += 1;
    connection.once("close", () => {
      caller.connections -= 1;
      if (caller.connections > 0) return;
      this.#callers.delete(address);
      this.#bodies.closeCaller(bodies);
    });
    return caller;
  }
}

const find = shareByLimits((limits: Limits) => new Callers(limits));

/** The callers of a port or a mount. */
export function findCallers({
  maxUnreadBytes,
  maxBodyBytesPerConnection,
  maxTotalBodyBytes,
}: Limits): Callers {
  return find({ maxUnreadBytes, maxBodyBytesPerConnection, maxTotalBodyBytes });
}

/** A connection, and its part of what callers share. */
export class CallerConnection {
  /** Several connections may have the same. */
  readonly caller: Caller;
  /** The memory of its requests' bodies. */
  readonly bodies: ConnectionBodies;
  readonly #callers: Callers;

  constructor(callers: Callers, caller: Caller, bodies: ConnectionBodies) {
    this.#callers = callers;
    this.caller = caller;
    this.bodies = bodies;
  }

  /** Where its other end is; undefined when that is not known. */
  get network(): string | undefined {
    return this.caller.address === "" ? undefined : this.caller.address;
  }

  /** From here on the connection is read in turns. @param begin gives it to its parser, now or when requests may arrive again */
  join(socket: Socket, begin: () => void): void {
    this.#callers.arrivals.join(this.caller, socket, begin);
  }

  /** A request has arrived. */
  countRequest(): void {
    this.#callers.arrivals.count(this.caller, 1);
  }

  /** A frame or a chunk of a body, or a packet with a part of one, has arrived. */
  countPiece(): void {
    this.#callers.arrivals.count(this.caller, pieceCost);
  }

  /** Whether what the connection has brought must wait. @param readOn called when it is read again */
  waitIfStopped(readOn: () => void): boolean {
    return this.#callers.arrivals.waitIfStopped(this.caller, readOn);
  }

  /** What a request waits for before it is begun; undefined: nothing. */
  turnBeforeRequest(): Promise<void> | undefined {
    return this.#callers.beforeRequest.turn(this);
  }

  /** What a request whose short body has come waits for before it goes on: thousands may end at once. Undefined: nothing. */
  turnAfterShortBody(): Promise<void> | undefined {
    return this.#callers.afterShortBody.turn(this);
  }

  /**
   * Asks for the turn in which a message is made of a body of this length.
   *
   * @param network where the body comes from: a proxy's connections have those of many callers
   */
  askTurnBeforeMessage(network: string | undefined, length: number, begin: Begin): void {
    const { small, large } = this.#callers.beforeMessage;
    (length <= small.maxBytes ? small : large).ask(network ?? this.caller.address, length, begin);
  }

  /** What an answer waits for before it is made, and a call after a gate that had to wait; undefined: nothing. */
  turnToGoOn(): Promise<void> | undefined {
    return this.#callers.toGoOn.turn(this);
  }

  /** What the next piece of a streamed answer waits for before it is made; undefined: nothing. */
  turnBeforePiece(): Promise<void> | undefined {
    return this.#callers.beforePiece.turn(this);
  }

  /** What a request whose caller has gone waits for before it is ended: thousands go with one connection. Undefined: nothing. */
  turnBeforeEnd(): Promise<void> | undefined {
    return this.#callers.beforeEnd.turn(this);
  }

  /** The memory of an answer until its reader has taken it. */
  openUnread(): Holding {
    return this.#callers.unread.open(this.caller.address);
  }

  /**
   * Counts bytes that were written and wait for their reader.
   *
   * @param rest bytes of the same answer that were made and will be written next
   * @param cut breaks the response off when there are too many
   * @returns call it when they do not wait any more
   */
  countWaiting(bytes: number, rest: number, cut: () => void): () => void {
    return this.#callers.buffers.count(this.caller, bytes, rest, cut);
  }
}
