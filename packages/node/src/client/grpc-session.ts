import { type ClientHttp2Stream, constants, type Http2Session } from "node:http2";
import { type GrpcTransportOptions, Http2SessionManager } from "@connectrpc/connect-node";

/** What a transport of connect-node wants of its connections. */
type SessionManager = NonNullable<GrpcTransportOptions["sessionManager"]>;

/**
 * The HTTP/2 connection of a transport: opened with the first call, again after it broke, and again after it fell silent. Calls
 * that are under way on a silent connection may stay there; new ones get another.
 */
export class GrpcSession implements SessionManager {
  readonly authority: string;
  readonly #connect: () => SafeSessionManager;
  readonly #all = new Set<SafeSessionManager>();
  readonly #byStream = new WeakMap<ClientHttp2Stream, SafeSessionManager>();
  #current: SafeSessionManager;

  constructor(...options: ConstructorParameters<typeof Http2SessionManager>) {
    this.#connect = () => new SafeSessionManager(...options);
    this.#current = this.#add();
    this.authority = this.#current.authority;
  }

  async request(...call: Parameters<SessionManager["request"]>): Promise<ClientHttp2Stream> {
    const session = this.#current;
    const stream = await session.request(...call);
    this.#byStream.set(stream, session);
    return stream;
  }

  notifyResponseByteRead(stream: ClientHttp2Stream): void {
    this.#byStream.get(stream)?.notifyResponseByteRead(stream);
  }

  /** The connection does not answer: what it still carries may go on, but nothing is added to it. */
  replace(): void {
    const silent = this.#current;
    this.#current = this.#add();
    silent.abortWhenUnused(() => this.#all.delete(silent));
  }

  /** Ends all connections. */
  abort(reason: Error): void {
    for (const session of this.#all) {
      session.abort(reason);
    }
  }

  #add(): SafeSessionManager {
    const session = this.#connect();
    this.#all.add(session);
    return session;
  }
}

/**
 * Connect's session manager, made to end without an error code, and safe against errors that come late. It stops listening as soon as a session has failed
 * or is given up; what the session says after that, such as the protocol error of a server that speaks HTTP/1.1, would end
 * the process.
 */
class SafeSessionManager extends Http2SessionManager {
  #streams = 0;
  #session: Http2Session | undefined;
  #onUnused: (() => void) | undefined;

  override async request(...call: Parameters<Http2SessionManager["request"]>): Promise<ClientHttp2Stream> {
    this.#streams += 1;
    try {
      const stream = await super.request(...call);
      stream.once("close", () => this.#release());
      this.#session = stream.session;
      listenForLateErrors(this.#session);
      return stream;
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  /** Connect would say CANCEL in the GOAWAY, which servers log as an error. Its calls end with the reason all the same. */
  override abort(reason?: Error): void {
    this.#session?.destroy(reason, constants.NGHTTP2_NO_ERROR);
    super.abort(reason);
  }

  /** Ends the connection with the last of its calls. */
  abortWhenUnused(onEnd: () => void): void {
    this.#onUnused = () => {
      this.abort();
      onEnd();
    };
    if (this.#streams === 0) {
      this.#onUnused();
    }
  }

  #release(): void {
    this.#streams -= 1;
    if (this.#streams === 0) {
      this.#onUnused?.();
    }
  }
}

function listenForLateErrors(session: Http2Session | undefined): void {
  if (session !== undefined && session.listenerCount("error", ignore) === 0) {
    session.on("error", ignore);
  }
}

/** Whoever waits for an answer hears of it from the stream. */
function ignore(): void {}
