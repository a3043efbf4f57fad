import type { Socket } from "node:net";
import { SocketWire } from "../network/socket-wire.ts";
import type { CallerConnection } from "./callers/callers.ts";

/** Bytes that the parser of HTTP/2 gets at a time. They may take a millisecond: of a header of HPACK each byte may cost. */
const pieceBytes = 16 * 1024;

type WireConnection = Pick<CallerConnection, "countParsing" | "waitIfStopped">;

/**
 * A connection of HTTP/2 whose parser gets it in pieces, when its caller has its turn. The parser itself would read up to 2 MiB of each
 * connection before anything else has a turn, and tells nothing of much of it, such as the headers of streams that are closed or refused.
 */
export class Http2Wire extends SocketWire {
  /** Otherwise Node takes it for closed where its own end has been written, and what a slow reader has not got yet is lost. */
  readonly readable = true;
  readonly #connection: WireConnection;
  #bytesRead = 0;
  /** Whether the parser takes more. It does not while what it has written waits. */
  #isWanted = false;
  /** The other connections of the caller come first. */
  #waitsForTurn = false;

  constructor(socket: Socket, connection: WireConnection) {
    super(socket);
    this.#connection = connection;
    socket
      .on("data", (bytes: Buffer) => this.#read(bytes))
      .on("close", () => this.emit("close"))
      .pause();
  }

  /** What the parser has got. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** It does so with each write, mostly for a moment in which nothing comes: the socket is paused when something does. */
  pause(): void {
    this.#isWanted = false;
  }

  resume(): void {
    this.#isWanted = true;
    this.#readOn();
  }

  #readOn(): void {
    if (this.#isWanted && !this.#waitsForTurn && this.socket.isPaused()) this.socket.resume();
  }

  readonly #takeTurn = (): void => {
    this.#waitsForTurn = false;
    this.#readOn();
  };

  #read(bytes: Buffer): void {
    const connection = this.#connection;
    if (this.#isWanted) this.#waitsForTurn ||= connection.waitIfStopped(this.#takeTurn);
    if (!this.#isWanted || this.#waitsForTurn) {
      this.#putBack(bytes);
      return;
    }
    const piece = bytes.subarray(0, pieceBytes);
    this.#bytesRead += piece.length;
    const began = performance.now();
    this.emit("data", piece);
    connection.countParsing(performance.now() - began);
    if (this.socket.destroyed) return;
    const rest = bytes.subarray(pieceBytes);
    if (rest.length === 0 && this.socket.readableLength === 0) return;
    this.#putBack(rest);
    process.nextTick(() => this.#readOn()); // after the tick in which bodies get their pieces, and they are counted
  }

  #putBack(bytes: Buffer): void {
    this.socket.pause();
    if (bytes.length > 0) this.socket.unshift(bytes);
  }
}
