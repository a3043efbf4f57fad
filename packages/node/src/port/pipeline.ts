import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Holding } from "@a2a-connect/core/internal";
import type { CallerConnection } from "./callers/callers.ts";
import { placesOf } from "./callers/places.ts";
import type { ListenLimits } from "./listen-options.ts";
import { type PlainErrorCode, plainErrorBody } from "./plain-error.ts";
import type { SlicedReader } from "./sliced-reader.ts";

/** Answers one request when it is its turn, and reads its body before that; resolves when the whole answer was written. */
export type ServeHttp1 = (
  message: IncomingMessage,
  response: ServerResponse,
  turn?: Promise<void>,
) => Promise<void>;

/** Who answers requests of a connection: a port, or a mount in the server that has it. */
export interface PipelineServer {
  readonly serve: ServeHttp1;
  /** The target of the request as it arrived, where a framework may have removed a part of it. */
  readonly target?: string;
  /**
   * Takes so many places for a request until it ends. Null: its caller has as many as it may have. Undefined: it needs none.
   *
   * @param isFirst whether its connection has no other that is not answered
   */
  takePlaces(message: IncomingMessage, places: number, isFirst: boolean): Holding | null | undefined;
  /** A request could not be served. */
  onFault(fault: unknown): void;
}

type Pipelined = readonly [message: IncomingMessage, response: ServerResponse];

interface Waiting {
  readonly response: ServerResponse;
  begin(): void;
  readonly served: Promise<void>;
}

/** Requests of one connection that are served at a time; further pipelined ones wait. */
const maxAtATime = 8;

/** How long a refused caller may read the reason before its connection is cut, in milliseconds. */
const refusalLingerMs = 1_000;

/** It ends in the turns of its caller: the headers of thousands may be late at the same moment. */
type PipelineConnection = Pick<CallerConnection, "turnBeforeEnd">;

/** How long a request may take to arrive: its header, and all of it. */
type ArrivalLimits = Pick<ListenLimits, "headersTimeoutMs" | "requestTimeoutMs">;

/** What stops to read the connection. */
export type PipelineReader = Pick<SlicedReader, "hold" | "release" | "throwAway" | "discard" | "readForMs">;

/** The requests of one HTTP/1.1 connection, which a caller may send without waiting for answers. */
export class Pipeline {
  readonly #socket: Socket;
  readonly #reader: PipelineReader;
  readonly #connection: PipelineConnection;
  #running = 0;
  #added = 0;
  readonly #waiting: Waiting[] = [];
  readonly #unanswered = new Set<ServerResponse>();
  /** Of each request; the first has that of its connection, and needs others only for a large header or target. */
  readonly #places = new Set<Holding>();
  #last: Pipelined | undefined;
  #refusal: PlainErrorCode | undefined;
  #isEnding = false;
  #lateTimer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, reader: PipelineReader, connection: PipelineConnection) {
    this.#socket = socket;
    this.#reader = reader;
    this.#connection = connection;
    socket.once("close", () => this.#forgetAll());
  }

  /**
   * Serves a few requests at a time, and stops reading while others wait. Node would begin thousands of pipelined ones
   * at once, and block every other caller.
   */
  add(message: IncomingMessage, response: ServerResponse, server: PipelineServer): void {
    this.#add(message, response, server).catch((error: unknown) => {
      if (!this.#socket.destroyed) server.onFault(error);
      this.#socket.destroy(); // to throw here would end the process
    });
  }

  async #add(message: IncomingMessage, response: ServerResponse, server: PipelineServer): Promise<void> {
    if (this.#socket.destroyed) return; // nothing would give its places back
    const isFirst = this.#unanswered.size === 0;
    const places = placesOf(message.rawHeaders, server.target ?? message.url) - (isFirst ? 1 : 0);
    const place = places === 0 ? undefined : server.takePlaces(message, places, isFirst);
    if (this.#refusal !== undefined || (place === null && !isFirst)) {
      place?.end();
      this.#socket.destroy(); // Node keeps what it has parsed until the connection ends
      return;
    }
    if (place === null) {
      forgetHead(message);
      this.refuse(429);
      return;
    }
    this.#added += 1;
    this.#last = [message, response];
    this.#unanswered.add(response);
    if (place !== undefined) this.#places.add(place);
    // Its header stays, and keeps its places, until all of it has come: a connection without calls has none.
    const forget = (): void => {
      if (!message.complete || this.#unanswered.has(response)) return;
      this.#giveBack(place);
      if (this.#last?.[1] === response) this.#last = undefined;
    };
    message.once("end", () => {
      message.rawTrailers = []; // nothing reads them, and they may be as large as the header
      forget();
    });
    response.once("close", () => {
      this.#unanswered.delete(response);
      forget();
      this.#refuseWhenAnswered();
    });
    if (this.#running === maxAtATime) {
      const { promise: turn, resolve: begin } = Promise.withResolvers<void>();
      const served = server.serve(message, response, turn);
      served.catch(() => {}); // what it rejects with counts when its turn comes, after the answers before
      this.#waiting.push({ response, begin, served });
      this.#reader.hold();
      return;
    }
    this.#running += 1;
    await server.serve(message, response);
    if (this.#waiting.length > 0) await this.#serveWaiting(); // in the place of the one that was answered
    this.#running -= 1;
  }

  /** The connection is closed: nothing of it counts any more, and what waited for its turn ends. */
  #forgetAll(): void {
    clearInterval(this.#lateTimer);
    for (const place of this.#places) place.end();
    this.#places.clear();
    for (const response of this.#unanswered) closeResponse(response);
    this.#unanswered.clear();
    for (const { begin } of this.#waiting.splice(0)) begin(); // each finds that its caller has gone
  }

  #giveBack(place: Holding | undefined): void {
    if (place !== undefined && this.#places.delete(place)) place.end();
  }

  async #serveWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextTurn();
      const [next] = this.#waiting;
      if (next === undefined) return;
      if (this.#refusal !== undefined && next.response === this.#broken) return; // that is its answer
      this.#waiting.shift();
      if (this.#waiting.length === 0) this.#reader.release(); // its body may not have come yet
      next.begin();
      await next.served;
    }
  }

  /**
   * Refuses what came last, and closes the connection. All requests before are answered first (RFC 9112 §9.3.2); a request
   * whose body is broken gets this answer, unless its own has begun. A second call does nothing.
   */
  refuse(code: PlainErrorCode): void {
    if (this.#refusal !== undefined) return;
    this.#refusal = code;
    this.#reader.discard(); // while the refusal waits, the request could become whole, and be served
    this.#refuseWhenAnswered();
  }

  /**
   * Refuses a request that takes too long to arrive, by Node's clock: at once, or when the connection was read for so long. For that clock
   * goes on while the rest of a request is not read because others wait before it, and tells of each request once.
   */
  refuseLate({ headersTimeoutMs, requestTimeoutMs }: ArrivalLimits): void {
    const late = this.#coming;
    const isLate = (): boolean =>
      this.#coming === late &&
      this.#reader.readForMs >= (this.#unfinished === undefined ? headersTimeoutMs : requestTimeoutMs);
    const look = async (): Promise<void> => {
      if (isLate()) await nextTurn(); // the process may have been busy, and what came meanwhile has not been read
      if (isLate()) this.refuse(408);
      if (this.#coming !== late || this.#refusal !== undefined) clearInterval(timer);
    };
    clearInterval(this.#lateTimer); // of a request before, which has come
    const timer = setInterval(look, headersTimeoutMs / 8).unref();
    this.#lateTimer = timer;
    void look();
  }

  /** Refuses a header, or trailers, for which there are no places before they are complete. */
  refuseUnfinished(): void {
    this.refuse(429);
    if (!this.#isEnding) this.#socket.destroy(); // the parser would keep them while requests before are answered
  }

  /** Refuses CONNECT. Node has let go of the connection then, with all by which it notices what answers need. */
  refuseTunnel(): void {
    this.#reader.throwAway();
    this.refuse(405);
  }

  /** The last request, while its body still comes and none before it waits for an answer. */
  get restOfLast(): IncomingMessage | undefined {
    return this.#unanswered.size > 1 ? undefined : this.#unfinished;
  }

  /** The last request, as long as its body has not all come. */
  get #unfinished(): IncomingMessage | undefined {
    const [message] = this.#last ?? [];
    return message?.complete === false ? message : undefined;
  }

  /** Which of all requests of the connection is coming, or comes next. */
  get #coming(): number {
    return this.#unfinished === undefined ? this.#added + 1 : this.#added;
  }

  /** The response to a request that will never be whole. */
  get #broken(): ServerResponse | undefined {
    return this.#unfinished === undefined ? undefined : this.#last?.[1];
  }

  #refuseWhenAnswered(): void {
    const code = this.#refusal;
    if (code === undefined) return;
    const broken = this.#broken;
    if (this.#unanswered.size > (broken !== undefined && this.#unanswered.has(broken) ? 1 : 0)) return;
    if (this.#isEnding) return;
    this.#isEnding = true;
    void this.#end(code, broken);
  }

  async #end(code: PlainErrorCode, broken: ServerResponse | undefined): Promise<void> {
    await this.#connection.turnBeforeEnd();
    const socket = this.#socket;
    if (!socket.writable || broken?.headersSent === true) {
      socket.destroy();
      return;
    }
    const body = plainErrorBody(code);
    const head = `HTTP/1.1 ${code} Refused\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
    socket.end(head + body);
    setTimeout(() => void this.#cut(), refusalLingerMs).unref();
  }

  async #cut(): Promise<void> {
    if (this.#socket.destroyed) return;
    await this.#connection.turnBeforeEnd();
    this.#socket.destroy();
  }
}

/**
 * Closes a response whose connection is closed. Node leaves out some that wait behind others: those before a tunnel, and Node 22 all of them,
 * because its `destroy` waits for their connection.
 */
function closeResponse(response: ServerResponse): void {
  response.destroy();
  process.nextTick(() => {
    if (!response.closed) response.emit("close");
  });
}

/** Node keeps the message while the refusal waits for its reader. */
function forgetHead(message: IncomingMessage): void {
  message.url = "";
  message.rawHeaders = [];
  message.headers = {};
}
