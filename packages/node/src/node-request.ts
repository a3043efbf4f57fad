import type { IncomingHttpHeaders } from "node:http";
import type { HttpBody, HttpRequest } from "@a2a-connect/bindings";
import type { CallSignal } from "./call-signal.ts";
import type { ReadCallerNetwork } from "./caller-network.ts";
import type { ReadForwardedUrl } from "./forwarded-url.ts";
import { toHeaders } from "./header-fields.ts";
import type { Connection } from "./trusted-proxies.ts";
import type { HeldAnswer } from "./unread-answers.ts";

/** The parts of a request, on both HTTP versions. */
export interface NodeRequestInit {
  readonly httpVersion: string;
  readonly url: string;
  readonly method: string;
  readonly fields: IncomingHttpHeaders;
  readonly body: HttpBody;
  readonly call: CallSignal;
  readonly boundToLoopback: boolean;
  readonly held: HeldAnswer;
  /** Undefined: no proxy is trusted. */
  readonly readForwardedUrl: ReadForwardedUrl | undefined;
  readonly readCallerNetwork: ReadCallerNetwork;
  /** The connection of the request. */
  readonly connection: Connection | undefined;
}

/** Node's request in the form for handlers. Header and signal are made when code first reads them. */
export class NodeRequest implements HttpRequest {
  readonly httpVersion: string;
  readonly url: string;
  readonly method: string;
  readonly body: HttpBody;
  readonly boundToLoopback: boolean;
  readonly #fields: IncomingHttpHeaders;
  readonly #call: CallSignal;
  readonly #held: HeldAnswer;
  readonly #readForwardedUrl: ReadForwardedUrl | undefined;
  readonly #readCallerNetwork: ReadCallerNetwork;
  readonly #connection: Connection | undefined;
  /** Null: no code has read it yet. */
  #forwardedUrl: string | null | undefined = null;
  #header: Headers | undefined;

  constructor(init: NodeRequestInit) {
    this.httpVersion = init.httpVersion;
    this.url = init.url;
    this.method = init.method;
    this.body = init.body;
    this.boundToLoopback = init.boundToLoopback;
    this.#fields = init.fields;
    this.#call = init.call;
    this.#held = init.held;
    this.#readForwardedUrl = init.readForwardedUrl;
    this.#readCallerNetwork = init.readCallerNetwork;
    this.#connection = init.connection;
  }

  get header(): Headers {
    this.#header ??= toHeaders(this.#fields);
    return this.#header;
  }

  get trustsProxies(): boolean {
    return this.#readForwardedUrl !== undefined;
  }

  /** Read once, by the first code that asks. */
  get forwardedUrl(): string | undefined {
    if (this.#forwardedUrl === null) {
      const [connection, url, fields] = [this.#connection, this.url, this.#fields];
      this.#forwardedUrl = this.#readForwardedUrl?.({ connection, url, fields });
    }
    return this.#forwardedUrl;
  }

  get callerNetwork(): string | undefined {
    return this.#readCallerNetwork(this.#connection, this.#fields);
  }

  hold(bytes: number): void {
    this.#held.add(bytes);
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
