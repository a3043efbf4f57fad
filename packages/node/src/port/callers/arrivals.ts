import type { Socket } from "node:net";
import { setTimeout } from "node:timers";
import { afterMicrotasks } from "@a2a-connect/core/internal";
import { type EndedTurn, type LoopTurns, longTurnMs, loopTurns } from "./loop-turns.ts";

/** A parser of Node's reads in a socket's place. Only what Node calls `_handle` can tell it to stop. */
interface ReadSocket extends Socket {
  readonly encrypted?: boolean;
  readonly _handle?: {
    readonly reading?: boolean;
    readonly bytesRead?: number;
    readStart(): void;
    readStop(): void;
  } | null;
}

/** What one client does in a turn should never take longer. */
const veryLongTurnMs = 50;

/** A caller that has brought fewer bytes did not make a turn long. */
const fewBytes = 128 * 1024;

/**
 * Connections of one caller that are read again in one turn, of those that were stopped. To stop and start thousands in each turn
 * would take longer than what they bring.
 */
const startsInATurn = 128;

/** For how many milliseconds of a turn connections of one caller begin that wait. */
const beginMs = 5;

/** How many bytes they may bring in it before fewer begin in the next. */
const beginBytes = 32 * 1024;

/** So many of them is one in TLS: each read may bring new keys, which take 10 ms. */
const beginsOfTls = 4;

/**
 * A proxy may open a connection for each call of all its callers, and brings one request with it. So many of them are read again in one
 * turn, and begin for so many milliseconds of it: only then it is known whose calls they are.
 */
const ofProxy = { startsInATurn: 512, beginMs: 20 };

/** How long connections of which one is read in a turn wait for the next turn where that one has brought nothing, in milliseconds. */
const quietMs = 1;

/** The connections of one caller, and how many of them are read in a turn. */
class CallerSockets {
  readonly isProxy: boolean;
  /** With the bytes that each had brought when they were last counted. */
  readonly #sockets = new Map<ReadSocket, number>();
  /** Those that are read, with the bytes that each had brought before. */
  readonly #read = new Map<ReadSocket, number>();
  /** Those that are stopped, and brought something when they were read. The one that is read next comes first. */
  readonly #busy = new Set<ReadSocket>();
  /** The same of those that brought nothing, perhaps because the others brought all that may arrive. Both have every second turn. */
  readonly #quiet = new Set<ReadSocket>();
  #isQuietNext = false;
  /** Begin those that are new, and bring requests already. They are not read: nothing would count what they bring meanwhile. */
  readonly waiting = new Map<ReadSocket, () => void>();
  /** Go on with connections that have brought more than could be read. */
  readonly left: (() => void)[] = [];
  /** Whether a new one begins before these go on: behind the same address may be others, with a connection each. */
  #isNewNext = false;
  arrived = 0;
  stopped = false;
  /** Whether they stay stopped in the next turns, too. */
  isResting = false;
  /** How many connections are read in one turn. */
  #atATime = Number.POSITIVE_INFINITY;
  /** How many of those that wait begin in one turn. What they bring is only known behind it. */
  #beginsAtATime = 1;
  /** Those that began in the last turn, with the bytes that each had brought before. */
  readonly #begun = new Map<ReadSocket, number>();

  /** Whether nothing has come in the last turn, and none waits to begin. */
  broughtNothing = false;

  readonly #mostBegins: number;
  readonly #isOneAtATime: boolean;

  constructor(isProxy: boolean, mostBegins: number, isOneAtATime: boolean) {
    this.isProxy = isProxy;
    this.#mostBegins = mostBegins;
    this.#isOneAtATime = isOneAtATime;
    if (isOneAtATime) this.#atATime = 1;
  }

  /** Whether only some of the connections are read in a turn. */
  get takesTurns(): boolean {
    return this.#atATime < this.#sockets.size;
  }

  get isEmpty(): boolean {
    return this.#sockets.size === 0;
  }

  has(socket: Socket): boolean {
    return this.#sockets.has(socket);
  }

  add(socket: ReadSocket): void {
    const bytes = bytesReadOf(socket);
    this.#sockets.set(socket, bytes);
    this.#read.set(socket, bytes);
  }

  /** It begins later. */
  wait(socket: ReadSocket, begin: () => void): void {
    this.#read.delete(socket);
    socket._handle?.readStop();
    this.waiting.set(socket, begin);
  }

  /** @returns whether it was read */
  delete(socket: Socket): boolean {
    this.#sockets.delete(socket);
    this.#begun.delete(socket);
    this.#busy.delete(socket);
    this.#quiet.delete(socket);
    return this.#read.delete(socket);
  }

  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    this.#stopReading();
  }

  #stopReading(): void {
    for (const [socket, before] of this.#read) {
      socket._handle?.readStop();
      (bytesReadOf(socket) === before ? this.#quiet : this.#busy).add(socket);
    }
    this.#read.clear();
  }

  /** @returns whether those that are read have brought something since the last call */
  takeBrought(): boolean {
    let hasBrought = false;
    for (const [socket, before] of this.#read) {
      const now = socket._handle?.bytesRead ?? before;
      if (now === before) continue;
      this.#read.set(socket, now);
      hasBrought = true;
    }
    this.broughtNothing = !hasBrought && this.arrived === 0 && this.waiting.size === 0;
    return hasBrought;
  }

  /**
   * Decides how many connections are read in the next turn, so that it does not become long.
   *
   * @param busyMs how long the last turn took
   */
  judge(busyMs: number): void {
    if (this.#isOneAtATime) return;
    if (!this.takesTurns) {
      this.#atATime = Number.POSITIVE_INFINITY;
      if (busyMs < longTurnMs) return;
    }
    const { connections, bytes } = this.#countBrought();
    if (busyMs >= longTurnMs && bytes >= fewBytes) {
      this.#atATime = Math.max(1, Math.floor((connections * longTurnMs) / busyMs));
    } else if (busyMs < longTurnMs / 2) {
      this.#atATime = Math.ceil(this.#atATime * 1.5);
    }
  }

  /** What came since it was counted the last time. */
  #countBrought(): { readonly connections: number; readonly bytes: number } {
    let connections = 0;
    let bytes = 0;
    for (const [socket, before] of this.#sockets) {
      const now = socket._handle?.bytesRead ?? before;
      if (now === before) continue;
      this.#sockets.set(socket, now);
      connections += 1;
      bytes += now - before;
    }
    return { connections, bytes };
  }

  /** @param mayGoOn whether this turn, of which connections may begin for so many milliseconds, has room for one more of those that wait */
  takeTurn(mayGoOn: (beginMs: number) => boolean): void {
    this.arrived = 0;
    this.stopped = false;
    if (this.takesTurns) {
      this.#stopReading();
      if (!this.#isOneAtATime) this.#keepStopped(); // those brought nothing that could be answered by a write
    }
    this.#startReading(Math.min(this.#atATime, this.isProxy ? ofProxy.startsInATurn : startsInATurn));
    this.#isNewNext = !this.#isNewNext;
    this.#judgeBegun();
    this.#goOn(
      mayGoOn,
      this.isProxy ? Number.POSITIVE_INFINITY : Math.min(this.#atATime, this.#beginsAtATime),
    );
  }

  /** Decides how many of those that wait begin in this turn: more where the last ones brought little. */
  #judgeBegun(): void {
    let bytes = 0;
    for (const [socket, before] of this.#begun) bytes += bytesReadOf(socket) - before;
    if (bytes > beginBytes) this.#beginsAtATime = Math.max(1, this.#beginsAtATime / 2);
    else if (this.#begun.size > 0) this.#beginsAtATime = Math.min(this.#mostBegins, this.#beginsAtATime * 2);
    this.#begun.clear();
  }

  /**
   * One of the connections that wait begins, and then the next, or one of those that have brought too much goes on; of a proxy any
   * number. What it has sent arrives with that, and counts in this turn.
   *
   * @param count how many begin at most
   */
  #goOn(mayGoOn: (beginMs: number) => boolean, count: number): void {
    const [socket] = this.waiting.keys();
    const left = this.#isNewNext && socket !== undefined ? undefined : this.left.shift();
    if (left !== undefined) left();
    else if (socket !== undefined) this.begin(socket);
    else return;
    const more = count - (socket?.encrypted === true ? beginsOfTls : 1);
    if (more <= 0 || (left !== undefined && !this.isProxy)) return;
    afterMicrotasks(() => {
      if (!this.stopped && mayGoOn(this.isProxy ? ofProxy.beginMs : beginMs)) this.#goOn(mayGoOn, more);
    });
  }

  /** Node reads on where it has written. */
  #keepStopped(): void {
    for (const { _handle } of this.#sockets.keys()) _handle?.readStop();
  }

  /** Begins one that waits. */
  begin(socket: ReadSocket): void {
    const begin = this.waiting.get(socket);
    if (begin === undefined) return;
    this.waiting.delete(socket);
    if (this.#sockets.has(socket)) {
      this.#begun.set(socket, bytesReadOf(socket));
      this.#readOn(socket); // before it begins: what it has brought may stop it again
    }
    begin();
  }

  get isWaiting(): boolean {
    if (this.isResting) return false;
    const { stopped, takesTurns, left, waiting } = this;
    return stopped || takesTurns || this.#hasStopped || left.length > 0 || waiting.size > 0;
  }

  /** Its connections are read in the turn after the next. */
  sitOut(): void {
    this.arrived = 0;
    this.#stopReading(); // those that have joined since the others were stopped
    this.#keepStopped();
  }

  get #hasStopped(): boolean {
    return this.#busy.size > 0 || this.#quiet.size > 0;
  }

  #startReading(count: number): void {
    const [first, second] = this.#isQuietNext ? [this.#quiet, this.#busy] : [this.#busy, this.#quiet];
    this.#isQuietNext = !this.#isQuietNext;
    const from = first.size > 0 ? first : second;
    let left = count;
    for (const socket of from) {
      if (left === 0) return;
      left -= 1;
      from.delete(socket);
      this.#readOn(socket);
    }
  }

  #readOn(socket: ReadSocket): void {
    this.#read.set(socket, bytesReadOf(socket));
    startReading(socket);
  }
}

function bytesReadOf({ _handle }: ReadSocket): number {
  return _handle?.bytesRead ?? 0;
}

function startReading({ _handle }: ReadSocket): void {
  if (_handle?.reading !== false) _handle?.readStart(); // false: it was paused
}

/** How connections are read in turns. */
export interface ArrivalsOptions {
  /** Default: those of this process. */
  readonly turns?: LoopTurns;
  /** Ends the rest of a caller after a very long turn, and the wait of connections that have brought nothing. Default: in so many milliseconds. */
  readonly later?: (task: () => void, tookMs: number) => void;
  /** Whether a caller is a proxy, which passes on the calls of others: it may bring all that may arrive in a turn. Default: none is. */
  readonly isProxy?: (caller: object | string) => boolean;
  /** How many connections of one caller that had to wait begin in a turn at most; of a proxy any number do. Default: one. */
  readonly mostBegins?: number;
  /**
   * Whether one connection of a caller is read in a turn, and one begins: what it brings may take very long, which is only known behind
   * the turn. Then the caller rests. Default: no.
   */
  readonly isOneAtATime?: boolean;
}

/**
 * Reads connections so that few requests arrive in one turn of the event loop. Node makes objects of all
 * requests that wait in all connections, before anything else has its turn: thousands of connections may have sent
 * thousands of requests each, or bodies in frames or chunks of one byte.
 *
 * When one caller has brought half of what may arrive in a turn, its connections are not read until the next turn. When all of it
 * has come, no connection is read, and in the next turn only those that brought nothing. A parser always reads what it has got to the
 * end: 16 KiB (`SlicedReader`, `Http2Wire`), or what it reads itself.
 *
 * Node tells nothing of most frames of HTTP/2 (WINDOW_UPDATE, header fields that its parser refuses), and its parser reads up to 2 MiB of
 * each connection in a turn that it reads itself. So where a turn was long, the bytes count: a caller that has brought many has only as
 * many of its connections read in a turn as it takes to make the turn long, one at least.
 */
export class Arrivals {
  readonly #maxInATurn: number;
  readonly #callers = new Map<object | string, CallerSockets>();
  readonly #turns: LoopTurns;
  readonly #later: (task: () => void, tookMs: number) => void;
  readonly #isProxy: (caller: object | string) => boolean;
  readonly #mostBegins: number;
  readonly #isOneAtATime: boolean;
  #arrived = 0;
  /** How many turns have ended. */
  #turn = 0;
  /** Whether the end of this turn is told. */
  #isWatching = false;
  /** Until when it is known whose work the event loop did. */
  #attributedMs = 0;
  /** Connections that have brought nothing wait for a moment. */
  #isScheduledLater = false;

  constructor(maxInATurn: number, options: ArrivalsOptions = {}) {
    const { turns = loopTurns, later = (task, tookMs) => setTimeout(task, tookMs).unref() } = options;
    this.#isProxy = options.isProxy ?? (() => false);
    this.#mostBegins = options.mostBegins ?? 1;
    this.#isOneAtATime = options.isOneAtATime ?? false;
    this.#maxInATurn = maxInATurn;
    this.#turns = turns;
    this.#later = later;
  }

  /**
   * From here on the connection is read in turns, and not at all until it begins.
   *
   * @param begin gives it to its parser, now or when requests may arrive again; at once when it closes before
   * @returns whether it has to wait
   */
  join(caller: object | string, socket: Socket, begin: () => void): boolean {
    const sockets =
      this.#callers.get(caller) ??
      new CallerSockets(this.#isProxy(caller), this.#mostBegins, this.#isOneAtATime);
    this.#callers.set(caller, sockets);
    sockets.add(socket);
    if (!this.#isWatching) this.#attributedMs = this.#turns.busyMs;
    this.#watchTurns();
    socket.once("close", () => {
      this.#forget(caller, sockets, socket);
      sockets.begin(socket);
    });
    const mayBegin = !sockets.stopped && !sockets.takesTurns && sockets.waiting.size === 0;
    if (mayBegin && this.#arrived < this.#maxInATurn) {
      begin();
      return false;
    }
    socket.on("error", () => undefined); // without a parser it has no listener
    sockets.wait(socket, begin);
    this.#schedule();
    return true;
  }

  /** From here on the connection is not read in turns any more. */
  leave(caller: object | string, socket: Socket): void {
    const sockets = this.#callers.get(caller);
    if (sockets?.has(socket) === true && !this.#forget(caller, sockets, socket)) startReading(socket);
  }

  /** @returns whether it was read */
  #forget(caller: object | string, sockets: CallerSockets, socket: Socket): boolean {
    const wasRead = sockets.delete(socket);
    this.#forgetUnlessUsed(caller, sockets);
    return wasRead;
  }

  #forgetUnlessUsed(caller: object | string, sockets: CallerSockets): void {
    if (sockets.isEmpty && !sockets.isResting && this.#callers.get(caller) === sockets) {
      this.#callers.delete(caller);
    }
  }

  /**
   * Whether what a connection has brought must wait, because the caller's connections are not read in this turn any more.
   *
   * @param readOn called when they are read again
   */
  waitIfStopped(caller: object | string, readOn: () => void): boolean {
    const sockets = this.#callers.get(caller);
    if (sockets?.stopped !== true) return false;
    sockets.left.push(readOn);
    return true;
  }

  /** Something of this cost has arrived. */
  count(caller: object | string, cost: number): void {
    this.#schedule();
    const hadRoom = this.#arrived < this.#maxInATurn;
    this.#arrived += cost;
    if (hadRoom && this.#arrived >= this.#maxInATurn) {
      for (const each of this.#callers.values()) each.stop();
    }
    const sockets = this.#callers.get(caller);
    if (sockets === undefined) return;
    sockets.arrived += cost;
    if (!sockets.isProxy && sockets.arrived >= this.#maxInATurn / 2) sockets.stop();
  }

  /** What this turn has done until now was for this caller, and cannot be done in parts. */
  attributeTurn(caller: object | string): void {
    const now = this.#turns.busyMs;
    const tookMs = now - this.#attributedMs;
    this.#attributedMs = now;
    this.attribute(caller, tookMs);
  }

  /**
   * So long a piece of work was for this caller. After a very long one the caller rests for as long: otherwise the next could follow at
   * once, and others would have a turn or two between them.
   */
  attribute(caller: object | string, tookMs: number): void {
    const sockets = this.#callers.get(caller);
    if (tookMs < veryLongTurnMs || sockets === undefined) return;
    sockets.stop();
    sockets.isResting = true;
    this.#later(() => {
      sockets.isResting = false;
      this.#forgetUnlessUsed(caller, sockets);
      this.#schedule();
    }, tookMs);
  }

  /** The next turn comes at once, although nothing may arrive. */
  #schedule(): void {
    this.#watchTurns().ref();
  }

  /** The end of each turn is told as long as there are connections; that alone keeps no turn from waiting for something to do. */
  #watchTurns(): NodeJS.Immediate {
    this.#isWatching = true;
    return this.#turns.watch(this.#endTurn);
  }

  readonly #endTurn = ({ busyMs, tookMs, isAccepting }: EndedTurn): void => {
    this.#isWatching = false;
    if (this.#callers.size > 0) this.#watchTurns();
    if (this.#isOneAtATime) this.#attributeReads(busyMs - this.#attributedMs);
    this.#attributedMs = busyMs;
    if (isAccepting) {
      for (const each of this.#callers.values()) each.stop();
      return;
    }
    for (const each of this.#callers.values()) each.judge(tookMs);
    // The system tells in a fixed order which connections have something to read. So when the first of them bring all that may
    // arrive in a turn, the others are read alone in the next one.
    const wasFull = this.#arrived >= this.#maxInATurn;
    this.#arrived = 0;
    const turn = ++this.#turn;
    const mayGoOn = (mostMs: number): boolean =>
      turn === this.#turn && this.#arrived < this.#maxInATurn && this.#turns.busyMs - busyMs < mostMs;
    for (const each of this.#callers.values()) {
      if (each.isResting) continue;
      if (wasFull && each.arrived > 0) each.sitOut();
      else each.takeTurn(mayGoOn);
      if (!each.isWaiting) continue;
      if (each.broughtNothing) this.#scheduleLater();
      else this.#schedule();
    }
  };

  /** What this turn has done was for those that have brought something. */
  #attributeReads(tookMs: number): void {
    for (const [caller, each] of this.#callers) if (each.takeBrought()) this.attribute(caller, tookMs);
  }

  /** The next turn comes soon. Without a pause connections that bring nothing would keep the event loop at work. */
  #scheduleLater(): void {
    if (this.#isScheduledLater) return;
    this.#isScheduledLater = true;
    this.#later(() => {
      this.#isScheduledLater = false;
      this.#schedule();
    }, quietMs);
  }
}
