import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Holding } from "@a2a-connect/core/internal";
import type { CallerConnection } from "./callers/callers.ts";
import { holdHeader } from "./callers/places.ts";
import { freeNow } from "./request-body.ts";

/**
 * Bytes that Node's HTTP/1.1 parser gets at a time. It makes objects of all requests and chunks in what it gets before anything
 * else has a turn: of one-byte chunks these bytes hold 2,730.
 */
const sliceBytes = 16 * 1024;

/** How many bytes a parser has taken of what it got last; undefined where it has failed. */
const takenBytes = Symbol("taken bytes");

/** What Node itself knows of its parser. */
interface Parser {
  execute(bytes: Buffer): number | Error;
  [takenBytes]?: number | undefined;
  /** Names and values of a header, or of trailers, that are not complete: all but the last fields, 31 of them at most. */
  readonly _headers?: readonly string[];
  /** The last request whose header was complete. */
  readonly incoming?: IncomingMessage | null;
}

/**
 * Notes how many bytes the parser takes. It stops behind a request with an `Upgrade` that is not answered, and Node forgets the rest:
 * the requests behind it, or the beginning of one, whose body would then be read as a request. Node's parsers pass from one connection to
 * the next, and keep this.
 */
function noteTakenBytes(parser: Parser): void {
  if (Object.hasOwn(parser, "execute")) return;
  const { execute } = parser;
  parser.execute = function (this: Parser, bytes) {
    const taken = execute.call(this, bytes);
    this[takenBytes] = typeof taken === "number" ? taken : undefined;
    return taken;
  };
}

/** A connection that Node's parser reads. */
interface ParsedSocket extends Socket {
  /** Null when Node has let go of the connection. */
  readonly parser?: Parser | null;
  /** Node has paused it until less of the answers waits. Bytes that its parser gets meanwhile end the process. */
  readonly _paused?: boolean;
}

/** What a name or a value takes besides its characters, as in `headerBytes`. */
const textOverheadBytes = 16;

/** What a reader needs to count headers that are not complete. */
export interface UnfinishedHeader {
  readonly places: Holding;
  /** There are no places for it. */
  refuse(): void;
}

/**
 * Reads one HTTP/1.1 connection for Node's parser: in slices, when its caller has its turn, and not while it is held. The parser
 * itself would read packets of 64 KiB, and all at once what arrived before it was there.
 */
export class SlicedReader {
  readonly #socket: ParsedSocket;
  readonly #connection: Pick<CallerConnection, "countRead" | "waitIfStopped">;
  readonly #header: UnfinishedHeader;
  /** What has come of a header, or of trailers, that are not complete; what came before them in the same slice may count, too. */
  #headerBytes = 0;
  /** Node's own listeners, which parse. */
  readonly #parse: readonly ((bytes: Buffer) => void)[];
  /** Other listeners of Node, which it takes away from a connection that is a tunnel. */
  readonly #kept: readonly (readonly [event: string, listeners: readonly (() => void)[]])[];
  /** Requests of this connection wait. */
  #isHeld = false;
  #isDiscarding = false;
  /** The memory of a packet that contains nothing else. */
  #packet: ArrayBufferLike | undefined;
  /** The other connections of the caller come first. */
  #waitsForTurn = false;
  /** It is paused for a moment, before the next slice or until its caller has its turn, and for no other reason. */
  #isPausedBriefly = false;
  /** When it was read again, after it was not for longer than a moment. */
  #readSince = Number.NEGATIVE_INFINITY;

  /** @param socket Node's server has taken it, and listens to it */
  constructor(
    socket: Socket,
    connection: Pick<CallerConnection, "countRead" | "waitIfStopped">,
    header: UnfinishedHeader,
  ) {
    this.#socket = socket;
    this.#connection = connection;
    this.#header = header;
    this.#parse = socket.listeners("data") as ((bytes: Buffer) => void)[];
    this.#kept = ["drain", "close", "error"].map((event) => [
      event,
      socket.listeners(event) as (() => void)[],
    ]);
    for (const listener of this.#parse) socket.off("data", listener);
    if (this.#socket.parser != null) noteTakenBytes(this.#socket.parser);
    socket.on("data", (bytes: Buffer) => this.#read(bytes));
    // Node reads on when the body of a request was read, or an answer was written. Each answer would then let in a packet of further
    // requests, and in the end all that the caller sends would be in memory.
    socket.on("resume", () => {
      if (this.#isHeld || this.#waitsForTurn) {
        socket.pause();
        return;
      }
      if (!this.#isPausedBriefly) this.#readSince = performance.now();
      this.#isPausedBriefly = false;
    });
  }

  /**
   * How long the connection has been read without a break; 0 while it is not read. To wait for a turn is no break: a caller with many
   * connections could bring that about with each byte, and would never be late.
   */
  get readForMs(): number {
    return this.#socket.isPaused() ? 0 : performance.now() - this.#readSince;
  }

  /** Nothing is read from here on, until `release`. */
  hold(): void {
    this.#isHeld = true;
    this.#isPausedBriefly = false;
    this.#socket.pause();
  }

  release(): void {
    this.#isHeld = false;
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  /** What comes from here on is not parsed any more. */
  discard(): void {
    this.#isDiscarding = true;
  }

  /** What comes from here on is thrown away; the connection is read to notice its end. Node has let go of it. */
  throwAway(): void {
    const socket = this.#socket;
    for (const [event, listeners] of this.#kept) {
      const left = socket.listeners(event);
      for (const listener of listeners) if (!left.includes(listener)) socket.on(event, listener);
    }
    socket.resume();
  }

  #read(bytes: Buffer): void {
    const socket = this.#socket;
    if (this.#isDiscarding || socket.parser == null) return;
    this.#connection.countRead();
    this.#waitsForTurn ||= this.#connection.waitIfStopped(() => {
      this.#waitsForTurn = false;
      socket.resume();
    });
    if (this.#waitsForTurn || socket._paused === true) {
      this.#isPausedBriefly = socket._paused !== true;
      this.#putBack(bytes); // `release`, or a slice before, has resumed it
      return;
    }
    if (bytes.length === bytes.buffer.byteLength) this.#packet = bytes.buffer;
    const taken = this.#parseSlice(bytes.subarray(0, sliceBytes));
    if (socket.destroyed || socket.parser == null) return; // nothing reads the rest
    const rest = bytes.subarray(taken);
    if (rest.length === 0 && bytes.buffer === this.#packet) {
      this.#packet = undefined;
      freeNow(bytes); // the parser keeps copies
    }
    if (rest.length === 0 && socket.readableLength === 0) return;
    this.#isPausedBriefly = !socket.isPaused();
    this.#putBack(rest);
    // After the tick in which the body gets its chunks, and they are counted.
    if (this.#isPausedBriefly) process.nextTick(() => socket.resume());
  }

  /** @returns how many bytes of it were parsed */
  #parseSlice(slice: Buffer): number {
    const socket = this.#socket;
    const { places } = this.#header;
    const before = socket.parser?.incoming;
    const wasBody = before?.complete === false;
    holdHeader(places, 0); // when it is complete now, it takes its own
    for (const listener of this.#parse) listener(slice);
    const { parser } = socket;
    if (this.#isDiscarding || socket.destroyed || parser == null) return slice.length;
    const texts = parser._headers?.length ?? 0;
    const isNew = parser.incoming != null && parser.incoming !== before;
    // Where a body or the end of a header came, only texts tell that another has begun.
    const isHeader = texts > 0 || !(wasBody || isNew);
    if (isNew || !isHeader) this.#headerBytes = 0;
    if (isHeader) this.#headerBytes += slice.length;
    if (!holdHeader(places, this.#headerBytes + texts * textOverheadBytes)) this.#header.refuse();
    return parser[takenBytes] || slice.length; // none: it will take no more of them another time
  }

  #putBack(bytes: Buffer): void {
    this.#socket.pause();
    if (bytes.length > 0) this.#socket.unshift(bytes);
  }
}
