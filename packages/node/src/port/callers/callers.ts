import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { type Begin, BodyTurns } from "@a2a-connect/bindings/server";
import { callUnawaited, type Holding, type SharedBudget, shareByLimits } from "@a2a-connect/core/internal";
import { findUnreadAnswers } from "@a2a-connect/server/internal";
import { toNetwork } from "../../network/caller-network.ts";
import type { ListenLimits } from "../listen-options.ts";
import { Arrivals } from "./arrivals.ts";
import { type Bodies, BodyBudget, type ConnectionBodies } from "./body-budget.ts";
import { EventLoopTurns } from "./event-loop-turns.ts";
import { FirstBytes } from "./first-bytes.ts";
import { loopTurns } from "./loop-turns.ts";
import { WriteBuffers } from "./write-buffers.ts";

/** Requests that are read in one turn of the event loop, of all connections. */
const maxArrivalsInATurn = 256;

/** Of each kind of turn without a number of its own, how many there are in one turn of the event loop, for all connections. */
export const maxTurns = 64;

/** Pieces of streamed answers that are made in one turn of the event loop, of all connections. */
const maxPiecesInATurn = 256;

/** What a piece of a request's body costs of what may arrive; a request costs 1. */
const pieceCost = 1 / 8;

/** What a read of a connection costs besides: each byte of a request may come in a record of TLS of its own. */
const readCost = 1 / 32;

/** The same of a connection of which it is not known yet what it is: one caller may bring 32 such reads in a turn. */
const undecidedReadCost = 4;

/** What parsing takes costs of what may arrive, a millisecond: callers stop after 10 ms, and one of them after half of it. */
const parsingCost = maxArrivalsInATurn / 10;

/**
 * Connections of HTTP/2 of one caller that Node's parser may read itself at a time, which costs less for each call (`Http2Wire`). It reads up
 * to 2 MiB of each in one turn, and may take 0.1 s for them.
 */
export const maxReadByParser = 4;

/** All connections from one address, and all calls that trusted proxies pass on from there. */
export interface Caller {
  /** An IPv4 address, or an IPv6 network of 64 bits; "" when the connections have none. */
  readonly address: string;
  /** Of its requests, over all its connections. */
  readonly bodies: Bodies;
  /** Its own, and those of proxies that have open calls from there. */
  connections: number;
  /** Those of its own that Node's parser of HTTP/2 reads itself. */
  readByParser: number;
  /** Whether it is a trusted proxy. */
  isProxy: boolean;
}

type Limits = Pick<ListenLimits, "maxUnreadBytes" | "maxBodyBytesPerConnection" | "maxTotalBodyBytes">;

/**
 * The callers of all ports and mounts with the same limits, and what they share: the turns of the event loop, and the memory of bodies
 * and answers. Each of these has a file here, and none lets one caller take what others need. All other code asks its `CallerConnection`.
 */
export class Callers {
  readonly arrivals: Arrivals = new Arrivals(maxArrivalsInATurn, {
    isProxy: (caller) => (caller as Caller).isProxy, // `CallerConnection` gives it these
    mostBegins: 16,
  });
  /** These five are explained at the methods of `CallerConnection`: `turnBeforeRequest` is the one of `beforeRequest`. */
  readonly beforeRequest: EventLoopTurns = this.#createTurns();
  readonly afterShortBody: EventLoopTurns = this.#createTurns();
  readonly toGoOn: EventLoopTurns = this.#createTurns();
  /** Hundreds of streams may have a hundred pieces at the same moment. */
  readonly beforePiece: EventLoopTurns = this.#createTurns(maxPiecesInATurn);
  readonly beforeEnd: EventLoopTurns = this.#createTurns();
  readonly beforeMessage: BodyTurns = new BodyTurns();
  readonly unread: SharedBudget;
  readonly buffers: WriteBuffers;
  readonly bodies: BodyBudget;
  readonly #connections = new WeakMap<EventEmitter, CallerConnection>();
  readonly #callers = new Map<string, Caller>();

  constructor(limits: Limits) {
    const { maxUnreadBytes } = limits;
    this.unread = findUnreadAnswers({ maxUnreadBytes });
    this.buffers = new WriteBuffers(maxUnreadBytes);
    this.bodies = new BodyBudget(limits);
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
      const caller = this.enter(toNetwork(remoteAddress()) ?? "");
      connection.once("close", () => this.leave(caller));
      known = new CallerConnection(this, caller, caller);
      this.#connections.set(connection, known);
    }
    return known;
  }

  /** The caller of this address has a connection more, until `leave`. */
  enter(address: string): Caller {
    let caller = this.#callers.get(address);
    if (caller === undefined) {
      caller = { address, bodies: this.bodies.openCaller(), connections: 0, readByParser: 0, isProxy: false };
      this.#callers.set(address, caller);
    }
    caller.connections += 1;
    return caller;
  }

  leave(caller: Caller): void {
    caller.connections -= 1;
    if (caller.connections > 0) return;
    this.#callers.delete(caller.address);
    this.bodies.closeCaller(caller.bodies);
  }

  #createTurns(maxInATurn = maxTurns): EventLoopTurns {
    return new EventLoopTurns(maxInATurn, () => loopTurns.isAccepting);
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

/**
 * A connection, and its part of what callers share. The calls that a proxy's connection has of one caller are like a connection of
 * that caller (`beginPassedOn`): only what arrives is the proxy's, because Node reads a connection for all its calls.
 */
export class CallerConnection {
  /** Several connections may have the same. */
  readonly caller: Caller;
  /** The memory of its requests' bodies. */
  readonly bodies: ConnectionBodies;
  readonly #callers: Callers;
  /** Who has the socket: the caller, or the proxy that passes its calls on. */
  readonly #peer: Caller;
  /** What each caller behind this proxy has of the connection while calls of it are open. Undefined: no call was passed on yet. */
  #passedOn: Map<string, CallerConnection> | undefined;
  /** How many calls this is for, when a proxy passes them on. */
  #calls = 0;

  constructor(callers: Callers, caller: Caller, peer: Caller) {
    this.#callers = callers;
    this.#peer = peer;
    this.caller = caller;
    this.bodies = callers.bodies.open(caller.bodies);
  }

  /**
   * A call that a trusted proxy passes on begins.
   *
   * @param network where the proxy says that it comes from
   * @returns what all calls from there have of this connection; give it to `endPassedOn` when the call has ended
   */
  beginPassedOn(network: string): CallerConnection {
    this.#passedOn ??= new Map();
    let own = this.#passedOn.get(network);
    if (own === undefined) {
      own = new CallerConnection(this.#callers, this.#callers.enter(network), this.#peer);
      this.#passedOn.set(network, own);
    }
    own.#calls += 1;
    return own;
  }

  endPassedOn(own: CallerConnection): void {
    own.#calls -= 1;
    if (own.#calls > 0) return;
    this.#passedOn?.delete(own.caller.address);
    this.#callers.leave(own.caller);
  }

  /** Where its other end is, or where a proxy says that its calls come from; undefined when that is not known. */
  get network(): string | undefined {
    return this.caller.address === "" ? undefined : this.caller.address;
  }

  /**
   * From here on the connection is read in turns.
   *
   * @param isProxy whether its other end is a trusted proxy
   * @param begin gives it to its parser, now or when requests may arrive again
   * @param onFault takes what `begin` throws
   */
  join(socket: Socket, isProxy: boolean, begin: () => void, onFault: (fault: unknown) => void): void {
    this.#peer.isProxy = isProxy;
    this.joinTurns(this.#callers.arrivals, socket, begin, onFault);
  }

  /** The same in turns of another kind. What cannot begin is closed: to throw in a turn of the event loop would end the process. */
  joinTurns(turns: Arrivals, socket: Socket, begin: () => void, onFault: (fault: unknown) => void): void {
    let first: FirstBytes | undefined;
    const waits = turns.join(this.#peer, socket, () => {
      first?.end();
      callUnawaited(begin, (fault) => {
        if (!socket.destroyed) onFault(fault);
        socket.destroy();
      });
    });
    if (waits) first = this.holdFirstBytes(socket);
  }

  /** The same for a connection whose first bytes do not tell what it is, until `leave`. */
  joinUndecided(socket: Socket, isProxy: boolean): void {
    this.#peer.isProxy = isProxy;
    this.#callers.arrivals.join(this.#peer, socket, () => undefined);
  }

  /** It is known what the connection is, or it is closed. */
  leave(socket: Socket): void {
    this.#callers.arrivals.leave(this.#peer, socket);
  }

  /** Counts what the connection has brought while it waits, and is not read. */
  holdFirstBytes(socket: Socket): FirstBytes {
    return new FirstBytes(socket, this.bodies);
  }

  /** A request, or its trailers, have arrived. */
  countRequest(): void {
    this.#callers.arrivals.count(this.#peer, 1);
  }

  /** They had a name that is too long (`maxNameLength`), and Node has made an object of them. Each costs what hundreds of others do. */
  countLongName(): void {
    this.#callers.arrivals.count(this.#peer, maxArrivalsInATurn / 2); // all that one caller may bring
  }

  /** A frame or a chunk of a body, or a packet with a part of one, has arrived. */
  countPiece(): void {
    this.#callers.arrivals.count(this.#peer, pieceCost);
  }

  /** Some bytes have arrived. */
  countRead(): void {
    this.#callers.arrivals.count(this.#peer, readCost);
  }

  /** Some bytes have arrived, and do not tell what the connection is. */
  countUndecided(): void {
    this.#callers.arrivals.count(this.#peer, undecidedReadCost);
  }

  /** Some bytes of HTTP/2 have arrived, and were parsed in so many milliseconds. */
  countParsing(tookMs: number): void {
    this.#callers.arrivals.count(this.#peer, readCost + tookMs * parsingCost);
  }

  /** Whether Node's parser of HTTP/2 may read the connection itself: the first few of each caller. It may until the socket closes. */
  mayReadItself(socket: Socket): boolean {
    const caller = this.#peer;
    if (caller.readByParser >= maxReadByParser) return false;
    caller.readByParser += 1;
    socket.once("close", () => {
      caller.readByParser -= 1;
    });
    return true;
  }

  /** Whether what the connection has brought must wait. @param readOn called when it is read again */
  waitIfStopped(readOn: () => void): boolean {
    return this.#callers.arrivals.waitIfStopped(this.#peer, readOn);
  }

  /** What a request waits for before it is begun; undefined: nothing. */
  turnBeforeRequest(): Promise<void> | undefined {
    return this.#callers.beforeRequest.turn(this);
  }

  /** What a request whose short body has come waits for before it goes on: thousands may end at once. Undefined: nothing. */
  turnAfterShortBody(): Promise<void> | undefined {
    return this.#callers.afterShortBody.turn(this);
  }

  /** Asks for the turn in which a message is made of a body of this length. @returns leaves the line */
  askTurnBeforeMessage(length: number, begin: Begin): () => void {
    return this.#callers.beforeMessage.ask(this.caller.address, length, begin);
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
