import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type OutgoingHttpHeaders,
} from "node:http2";

/** A connection that no call has used for so long is closed, 15 min. */
const idleMs = 15 * 60 * 1_000;

/** The stream of a call. */
export interface GrpcStream {
  readonly stream: ClientHttp2Stream;
  /** Its connection does not answer: the calls on it may go on, but it gets no new ones. */
  retireConnection(): void;
}

/** Opens a connection. The signal aborts when it is not needed any more. */
type Connect = (signal: AbortSignal) => Promise<ClientHttp2Session>;

/**
 * The HTTP/2 connection of a transport. The first call opens it; a later call opens it again after it broke, fell
 * silent, or the server said that it is going away. Calls that run on such a connection may stay there; new calls get
 * another one.
 */
export class GrpcSession {
  readonly #connect: Connect;
  readonly #all = new Set<Connection>();
  #current: Connection | undefined;

  constructor(connect: Connect) {
    this.#connect = connect;
  }

  /** Begins a call. @throws the error of a connection that does not come about */
  async request(headers: OutgoingHttpHeaders): Promise<GrpcStream> {
    for (;;) {
      const connection = this.#usable();
      await connection.opened;
      const stream = connection.request(headers);
      if (stream !== undefined) {
        return { stream, retireConnection: () => connection.retire() };
      } // it was closed in the moment in which it was to be used
    }
  }

  /** Ends all connections. */
  abort(reason: Error): void {
    for (const connection of this.#all) {
      connection.abort(reason);
    }
  }

  #usable(): Connection {
    if (this.#current === undefined || !this.#current.isUsable) {
      const connection: Connection = new Connection(this.#connect, () => this.#all.delete(connection));
      this.#all.add(connection);
      this.#current = connection;
    }
    return this.#current;
  }
}

/** A server may push before it knows that we take nothing. An error of such a stream would end the process. */
function refusePushed(pushed: ClientHttp2Stream): void {
  pushed.on("error", () => {});
  pushed.close(constants.NGHTTP2_REFUSED_STREAM);
}

/** One connection, and how many calls run on it. It keeps the process alive only while there are any. */
class Connection {
  /** Rejects when it cannot be opened. */
  readonly opened: Promise<void>;
  readonly #opening = new AbortController();
  #session: ClientHttp2Session | undefined;
  #calls = 0;
  #isRetired = false;

  constructor(connect: Connect, onClose: () => void) {
    this.opened = connect(this.#opening.signal).then(
      (session) => this.#use(session, onClose),
      (error: unknown) => {
        this.#isRetired = true;
        onClose();
        throw error;
      },
    );
  }

  #use(session: ClientHttp2Session, onClose: () => void): Promise<void> {
    this.#session = session;
    const opened = new Promise<void>((resolve, reject) => {
      session.once("connect", () => {
        session.setTimeout(idleMs, () => this.#closeIdle());
        session.unref();
        resolve();
      });
      // The listener stays. A late error, such as the protocol error of a server that speaks HTTP/1.1, would otherwise
      // end the process; a call that waits for an answer gets the error from its stream.
      session.on("error", reject);
      session.once("close", () => {
        reject(new Error("the connection was closed before it was open"));
        onClose();
      });
    });
    session.once("goaway", () => this.retire());
    session.on("stream", refusePushed);
    if (this.#opening.signal.aborted) this.abort(this.#opening.signal.reason);
    return opened;
  }

  get isUsable(): boolean {
    return !this.#isRetired && this.#session?.closed !== true && this.#session?.destroyed !== true;
  }

  /** Begins a call; undefined when the connection is not usable any more. */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream | undefined {
    const session = this.#session;
    if (!this.isUsable || session === undefined) {
      return undefined;
    }
    const stream = session.request(headers);
    this.#calls += 1;
    if (this.#calls === 1) {
      session.ref();
    }
    stream.once("close", () => this.#release());
    return stream;
  }

  /** It gets no more calls, and ends with the last one. */
  retire(): void {
    this.#isRetired = true;
    if (this.#calls === 0) {
      this.abort();
    }
  }

  /** Node's default would be CANCEL in the GOAWAY, which servers log as an error. */
  abort(reason?: Error): void {
    this.#opening.abort(reason);
    this.#session?.destroy(reason, constants.NGHTTP2_NO_ERROR);
  }

  #release(): void {
    this.#calls -= 1;
    if (this.#calls > 0) {
      return;
    }
    if (this.#isRetired) {
      this.abort();
    } else {
      this.#session?.unref();
    }
  }

  #closeIdle(): void {
    if (this.#calls === 0) {
      this.#session?.close();
    }
  }
}
