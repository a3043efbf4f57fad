import type { RouteMatch } from "@a2a-connect/core/internal";
import type { ConnectError } from "@connectrpc/connect";
import type { HttpRequest, HttpResponse } from "../http.ts";

/** How callers of one version of A2A write over HTTP+JSON. */
export interface HttpForm {
  /** A path below the prefix as 1.0 has it. */
  path(below: string): string;
  /** What answers a call; undefined when the version has no such call. */
  find(
    match: RouteMatch,
  ): ((query: URLSearchParams, request: HttpRequest) => Promise<HttpResponse>) | undefined;
  respondError(request: HttpRequest, error: ConnectError, init: ErrorInit): Promise<HttpResponse>;
}

/** An error's response besides its body. */
export interface ErrorInit {
  readonly status: number;
  readonly header?: HeadersInit | undefined;
}
