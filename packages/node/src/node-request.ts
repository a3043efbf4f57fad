import type { IncomingHttpHeaders } from "node:http";
import type { HttpBody, HttpRequest } from "@a2a-connect/bindings";
import type { CallSignal } from "./call-signal.ts";
import { toHeaders } from "./header-fields.ts";

/** What a request is made of, on both HTTP versions. */
export interface NodeRequestInit {
  readonly httpVersion: string;
  readonly url: string;
  readonly method: string;
  readonly fields: IncomingHttpHeaders;
  readonly body: HttpBody;
  readonly call: CallSignal;
  /** Undefined: no proxy is trusted. */
  readonly readForwardedUrl?: (() => string | undefined) | undefined;
}

/** A request of Node's as the handler sees it. Header and signal are made when they are first looked at. */
export class NodeRequest implements HttpRequest {
  readonly httpVersion: string;
  readonly url: string;
  readonly method: string;
  readonly body: HttpBody;
  readonly #fields: IncomingHttpHeaders;
  readonly #call: CallSignal;
  #readForwardedUrl: NodeRequestInit["readForwardedUrl"];
  #forwardedUrl: string | undefined;
  #header: Headers | undefined;

  constructor({ httpVersion, url, method, fields, body, call, readForwardedUrl }: NodeRequestInit) {
    this.httpVersion = httpVersion;
    this.url = url;
    this.method = method;
    this.body = body;
    this.#fields = fields;
    this.#call = call;
    this.#readForwardedUrl = readForwardedUrl;
  }

  get header(): Headers {
    this.#header ??= toHeaders(this.#fields);
    return this.#header;
  }

  /** Read once, by whoever asks first. */
  get forwardedUrl(): string | undefined {
    if (this.#readForwardedUrl !== undefined) {
      this.#forwardedUrl = this.#readForwardedUrl();
      this.#readForwardedUrl = undefined;
    }
    return this.#forwardedUrl;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
