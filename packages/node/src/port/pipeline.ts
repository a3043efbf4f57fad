import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type PlainErrorCode, plainErrorBody } from "./plain-error.ts";

/** Answers one request; resolves when the whole answer was written. */
export type ServeHttp1 = (message: IncomingMessage, response: ServerResponse) => Promise<void>;

type Pipelined = readonly [message: IncomingMessage, response: ServerResponse];

/** Requests of one connection that are served at a time; further pipelined ones wait. */
const maxAtATime = 8;

/**
 * Bytes that Node's HTTP/1.1 parser gets at a time. It makes objects of all requests and chunks in what it gets before anything
 * else has a turn: of one-byte chunks these bytes hold 2,730.
 */
const sliceBytes = 16 * 1024;

/** A connection that Node's parser reads. */
interface ParsedSocket extends Socket {
  /** Null when Node has let go of the connection. */
  readonly parser?: object | null;
}

/** How long a refused caller may read the reason before its connection is cut, in milliseconds. */
const refusalLingerMs = 1_000;

/** The requests of one HTTP/1.1 connection, which a caller may send without waiting for answers, and how it is read. */
export class Pipeline {
  readonly #socket: Socket;
  readonly #serve: ServeHttp1;
  /** Whether the connection may not be read, because its caller's other requests come first. */
  #isHeldBack = false;
  #running = 0;
  readonly #waiting: Pipelined[] = [];
  readonly #unanswered = new Set<ServerResponse>();
  #last: Pipelined | undefined;
  #refusal: PlainErrorCode | undefined;
  #restoreListeners: () => void = () => undefined;

  constructor(socket: Socket, serve: ServeHttp1) {
    this.#socket = socket;
    this.#serve = serve;
  }

  /**
   * Serves a few requests at a time, and stops reading while others wait. Node would begin thousands of pipelined ones
   * at once, and block every other caller.
   */
  async add(...request: Pipelined): Promise<void> {
    const [, response] = request;
    this.#last = request;
    this.#unanswered.add(response);
    response.once("close", () => {
      this.#unanswered.delete(response);
      this.#refuseWhenAnswered();
    });
    if (this.#running === maxAtATime) {
      this.#waiting.push(request);
      this.#socket.pause();
      return;
    }
    this.#running += 1;
    await this.#serve(...request);
    if (this.#waiting.length > 0) await this.#serveWaiting();
    this.#running -= 1;
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  async #serveWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextTurn();
      const next = this.#waiting.shift();
      if (next === undefined || this.#socket.destroyed) return;
      await this.#serve(...next);
    }
  }

  /**
   * Refuses what came last, and closes the connection. All requests before are answered first (RFC 9112 §9.3.2); a request
   * whose body is broken gets this answer, unless its own has begun. A second call does nothing.
   */
  refuse(code: PlainErrorCode): void {
    if (this.#refusal !== undefined) return;
    this.#refusal = code;
    const at = this.#waiting.findIndex(([, response]) => response === this.#broken);
    if (at !== -1) this.#waiting.splice(at, 1);
    this.#refuseWhenAnswered();
  }

  /**
   * From here on the connection is read here, in slices, and not while requests wait. Node's parser would read packets of 64 KiB, and
   * all at once what arrived before it was there. Call it when Node has taken the connection, and listens to it.
   *
   * @param isHeldBack whether nothing may be read now, because of other connections; `readOn` is called when it may be
   */
  readInSlices(isHeldBack: (readOn: () => void) => boolean): void {
    const socket: ParsedSocket = this.#socket;
    const parse = socket.listeners("data") as ((bytes: Buffer) => void)[];
    for (const listener of parse) socket.off("data", listener);
    const readOn = (): void => {
      this.#isHeldBack = false;
      socket.resume();
    };
    const putBack = (bytes: Buffer): void => {
      socket.pause();
      if (bytes.length > 0) socket.unshift(bytes);
    };
    socket.on("data", (bytes: Buffer) => {
      if (socket.parser == null) return;
      this.#isHeldBack ||= isHeldBack(readOn);
      if (this.#isHeldBack) {
        putBack(bytes);
        return;
      }
      for (const listener of parse) listener(bytes.subarray(0, sliceBytes));
      if (socket.destroyed || socket.parser == null) return; // nothing reads the rest
      const rest = bytes.subarray(sliceBytes);
      if (rest.length === 0 && socket.readableLength === 0) return;
      const wasPaused = socket.isPaused();
      putBack(rest);
      // After the tick in which the body gets its chunks, and they are counted.
      if (!wasPaused) process.nextTick(() => socket.resume());
    });
    // Node reads on when the body of a request was read, or an answer was written. Each answer would then let in a packet of further
    // requests, and in the end all that the caller sends would be in memory.
    socket.on("resume", () => {
      if (this.#isHeldBack || this.#waiting.length > 0) socket.pause();
    });
    const kept = ["drain", "close", "error"].map((event) => [event, socket.listeners(event)] as const);
    this.#restoreListeners = () => {
      for (const [event, listeners] of kept) {
        const left = socket.listeners(event);
        for (const listener of listeners) {
          if (!left.includes(listener)) socket.on(event, listener as () => void); // what Node had registered for it
        }
      }
    };
  }

  /** Refuses CONNECT. Node has let go of the connection then, with all by which it notices what answers need. */
  refuseTunnel(): void {
    this.#restoreListeners();
    this.#socket.resume(); // to notice its end; what comes is thrown away
    this.refuse(405);
  }

  /** The response to a request that will never be whole. */
  get #broken(): ServerResponse | undefined {
    const [message, response] = this.#last ?? [];
    return message?.complete === false ? response : undefined;
  }

  #refuseWhenAnswered(): void {
    const code = this.#refusal;
    if (code === undefined) return;
    const broken = this.#broken;
    if (this.#unanswered.size > (broken !== undefined && this.#unanswered.has(broken) ? 1 : 0)) return;
    const socket = this.#socket;
    if (!socket.writable || broken?.headersSent === true) {
      socket.destroy();
      return;
    }
    const body = plainErrorBody(code);
    const head = `HTTP/1.1 ${code} Refused\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
    socket.end(head + body);
    setTimeout(() => socket.destroy(), refusalLingerMs).unref();
  }
}
