import { type ClientHttp2Stream, constants, type Http2Session } from "node:http2";
import { type GrpcTransportOptions, Http2SessionManager } from "@connectrpc/connect-node";

/** What a transport of connect-node needs of its connections. */
type SessionManager = NonNullable<GrpcTransportOptions["sessionManager"]>;

/**
 * The HTTP/2 connection of a transport. The first call opens it; a later call opens it again after it broke or fell
 * silent. Calls that run on a silent connection may stay there; new calls get another connection.
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

  /** The connection does not answer: its calls may go on, but it gets no new ones. */
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
 * Connect's session manager, changed so that it ends without an error code and survives late errors. Connect's manager
 * stops listening as soon as a session has failed or is given up. A later error of the session, such as the protocol
 * error of a server that speaks HTTP/1.1, would end the process.
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

  /**
   * Connect would send CANCEL in the GOAWAY, which servers log as an error. The session's calls end with the reason
   * anyway.
   */
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

/** A call that waits for an answer gets the error from its stream. */
function ignore(): void {}
