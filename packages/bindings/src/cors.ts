import { extensionsHeader, idempotencyKeyHeader, versionHeader } from "@a2a-connect/core/internal";
import { cors } from "@connectrpc/connect";
import { eventIdHeader, type HttpHandler, type HttpRequest, type HttpResponse } from "./http.ts";
import { olderExtensionsHeader } from "./v03/methods.ts";

/** Which browser pages may call. */
export interface CorsOptions {
  /** Origins such as `https://app.example`, or `*` for all. Default `*`. */
  readonly origins?: readonly string[];
  /**
   * Whether pages may send cookies and TLS certificates. Needs named origins. Default false; an `authorization` header that
   * the page sets itself is allowed anyway.
   */
  readonly credentials?: boolean;
  /** Headers that pages may send beyond those of the wires. */
  readonly allowedHeaders?: readonly string[];
  /** Headers that pages may read beyond those of the wires. */
  readonly exposedHeaders?: readonly string[];
  /** How long in seconds a browser may remember a preflight. Default 7200, the longest that Chromium honours. */
  readonly maxAgeSeconds?: number;
}

const allowedMethods = ["GET", "POST", "DELETE"];

const allowedHeaders = [
  ...cors.allowedHeaders,
  "accept",
  "authorization",
  "content-encoding",
  idempotencyKeyHeader,
  "last-event-id",
  "traceparent",
  "tracestate",
  versionHeader,
  extensionsHeader,
  olderExtensionsHeader,
];

const exposedHeaders = [
  ...cors.exposedHeaders,
  "allow",
  "etag",
  "last-modified",
  "retry-after",
  "www-authenticate",
  versionHeader,
  extensionsHeader,
  olderExtensionsHeader,
  eventIdHeader,
];

/**
 * Lets browser pages of other origins call a handler: answers preflights with 204 and marks every response.
 *
 * @throws Error for credentials with `*`, which browsers refuse
 */
export function withCors(handler: HttpHandler, options: CorsOptions = {}): HttpHandler {
  const { origins = ["*"], credentials = false, maxAgeSeconds = 7200 } = options;
  const anyOrigin = origins.includes("*");
  if (anyOrigin && credentials) {
    throw new Error("CORS with credentials needs named origins");
  }
  const preflight = {
    "access-control-allow-methods": allowedMethods.join(", "),
    "access-control-allow-headers": [...allowedHeaders, ...(options.allowedHeaders ?? [])].join(", "),
    "access-control-max-age": String(maxAgeSeconds),
  };
  const exposed = [...exposedHeaders, ...(options.exposedHeaders ?? [])].join(", ");

  /** The header fields that name the origin; none for an origin that may not call. */
  function grant(origin: string): [string, string][] {
    if (anyOrigin) {
      return [["access-control-allow-origin", "*"]];
    }
    if (!origins.includes(origin)) {
      return [];
    }
    return [
      ["access-control-allow-origin", origin],
      ...(credentials ? [["access-control-allow-credentials", "true"] satisfies [string, string]] : []),
    ];
  }

  return (request) => {
    const origin = request.header.get("origin");
    // A request without it is not from a page. A cache must still not give a page the answer to it.
    return origin === null && anyOrigin ? handler(request) : answerPage(request, origin);
  };

  async function answerPage(request: HttpRequest, origin: string | null): Promise<HttpResponse> {
    if (origin === null) {
      return marked(await handler(request), []);
    }
    const granted = grant(origin);
    if (isPreflight(request)) {
      const header = new Headers(granted.length === 0 ? {} : preflight);
      return marked({ status: 204, header }, granted);
    }
    const response = await handler(request);
    return marked(
      response,
      granted.length === 0 ? [] : [...granted, ["access-control-expose-headers", exposed]],
    );
  }

  function marked(response: HttpResponse, entries: readonly [string, string][]): HttpResponse {
    const header = response.header ?? new Headers();
    for (const [name, value] of entries) {
      header.set(name, value);
    }
    if (!anyOrigin) {
      header.append("vary", "origin");
    }
    return { ...response, header };
  }
}

function isPreflight({ method, header }: HttpRequest): boolean {
  return method === "OPTIONS" && header.has("access-control-request-method");
}
