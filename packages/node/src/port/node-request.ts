import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { HttpBody, HttpRequest } from "@a2a-connect/bindings";
import type { Holding } from "@a2a-connect/core/internal";
import { readClientCertificate } from "../network/client-certificate.ts";
import type { ReadForwardedUrl } from "../network/forwarded-url.ts";
import type { RemoteEnd } from "../network/trusted-proxies.ts";
import type { CallerConnection } from "./callers/callers.ts";
import { toHeaders } from "./http-head.ts";
import type { PlainErrorCode } from "./plain-error.ts";

/**
 * The signal of one request, made when code first reads it: for most calls no code does.
 *
 * It is a class, like everything that is made for each request. An object literal with a getter gets a hidden class of
 * its own, which keeps the whole request alive until the next full garbage collection.
 */
export class CallSignal {
  #controller: AbortController | undefined;
  #aborted: Error | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  /** Abort with a ready-made reason; without one the platform builds a costly DOMException. Later calls do nothing. */
  abort(reason: Error): void {
    if (this.#aborted !== undefined) return;
    this.#aborted = reason;
    this.#controller?.abort(reason);
  }
}

/** What all requests of one port know of it. */
export interface RequestContext {
  /** Whether only this machine reaches the port; known once it is bound. */
  boundToLoopback: boolean;
  /** Undefined: no proxy is trusted. */
  readonly readForwardedUrl: ReadForwardedUrl | undefined;
}

/** A request as it arrived, on either HTTP version. */
export interface Incoming {
  readonly httpVersion: string;
  readonly method: string;
  /** The absolute URL, or the status of the refusal when the request is malformed. */
  readonly url: string | PlainErrorCode;
  readonly fields: IncomingHttpHeaders;
  /** Where it came through a mount in another server. */
  readonly mount?: HttpRequest["mount"];
  /** Where that is known of this request alone. Default: what is known of the port. */
  readonly boundToLoopback?: boolean;
  /** The same as they arrived: name, value, name, value. Of some that are repeated, `fields` has only the first. */
  readonly rawFields: readonly string[];
  /** The bytes of the body. */
  readonly source: Readable;
  /** Whether no other code has the chunks of `source`, nor the memory behind them. Default: other code may. */
  readonly ownsChunks?: boolean;
  /** From `content-length`; 0 when the request has no body; undefined when only its end tells. */
  readonly declaredLength: number | undefined;
  /** What it waits for before it begins. Its body is read meanwhile. */
  readonly turn?: Promise<void> | undefined;
  /** Time limit for the body, in milliseconds. Undefined: Node enforces it. */
  readonly bodyTimeoutMs: number | undefined;
  readonly connection: CallerConnection;
  readonly socket: RemoteEnd | undefined;
  /** Ends the stream or connection of a caller that sends on and on what is not wanted. */
  readonly cut: () => void;
}

/** What belongs to one request and was made here. */
export interface RequestParts {
  readonly url: string;
  readonly body: HttpBody;
  readonly call: CallSignal;
  /** What its answer keeps in memory until the caller has read it. */
  readonly unread: Holding;
  /** Its caller's: `Incoming.connection`, or what this caller has of it when a proxy passes the request on. */
  readonly connection: CallerConnection;
}

/** Node's request in the form for handlers. Header and signal are made when code first reads them. */
export class NodeRequest implements HttpRequest {
  readonly httpVersion: string;
  readonly url: string;
  readonly method: string;
  readonly body: HttpBody;
  readonly boundToLoopback: boolean;
  readonly mount: HttpRequest["mount"];
  readonly #context: RequestContext;
  readonly #fields: IncomingHttpHeaders;
  readonly #rawFields: readonly string[];
  readonly #call: CallSignal;
  readonly #unread: Holding;
  readonly #connection: CallerConnection;
  readonly #socket: RemoteEnd | undefined;
  /** Null: no code has read it yet. */
  #forwardedUrl: string | null | undefined = null;
  #header: Headers | undefined;

  constructor(
    context: RequestContext,
    { httpVersion, method, fields, rawFields, socket, mount, boundToLoopback }: Incoming,
    parts: RequestParts,
  ) {
    this.httpVersion = httpVersion;
    this.url = parts.url;
    this.method = method;
    this.body = parts.body;
    this.boundToLoopback = boundToLoopback ?? context.boundToLoopback;
    this.mount = mount;
    this.#context = context;
    this.#fields = fields;
    this.#rawFields = rawFields;
    this.#call = parts.call;
    this.#unread = parts.unread;
    this.#connection = parts.connection;
    this.#socket = socket;
  }

  get header(): Headers {
    this.#header ??= toHeaders(this.#fields);
    return this.#header;
  }

  get trustsProxies(): boolean {
    return this.#context.readForwardedUrl !== undefined;
  }

  /** Read once, by the first code that asks. */
  get forwardedUrl(): string | undefined {
    if (this.#forwardedUrl === null) {
      const [connection, url, fields] = [this.#socket, this.url, this.#fields];
      this.#forwardedUrl = this.#context.readForwardedUrl?.({ connection, url, fields });
    }
    return this.#forwardedUrl;
  }

  get callerNetwork(): string | undefined {
    return this.#connection.network;
  }

  get clientCertificate(): HttpRequest["clientCertificate"] {
    return readClientCertificate(this.#socket);
  }

  countFields(name: string): number {
    const wanted = name.toLowerCase();
    const fields = this.#rawFields;
    let count = 0;
    for (let index = 0; index < fields.length; index += 2) {
      const field = fields[index];
      if (field?.length === wanted.length && field.toLowerCase() === wanted) count += 1;
    }
    return count;
  }

  countUnread(bytes: number): void {
    this.#unread.add(bytes);
  }

  turnToGoOn(): Promise<void> | undefined {
    return this.#connection.turnToGoOn();
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
