import type { HttpResponse } from "@a2a-connect/bindings";

/** Failures below every binding, as JSON in the shape of google.rpc.Status over HTTP; fixed texts only. */
const failures = {
  400: { status: "INVALID_ARGUMENT", message: "Malformed HTTP request" },
  405: { status: "UNIMPLEMENTED", message: "This server is no proxy" },
  408: { status: "DEADLINE_EXCEEDED", message: "The request took too long to arrive" },
  413: { status: "RESOURCE_EXHAUSTED", message: "The request's chunk extensions are too large" },
  417: { status: "INVALID_ARGUMENT", message: "This server meets no expectation but 100-continue" },
  429: { status: "RESOURCE_EXHAUSTED", message: "Too many calls of this address are open; try again later" },
  431: { status: "RESOURCE_EXHAUSTED", message: "The request's header fields are too large" },
  500: { status: "INTERNAL", message: "Internal error" },
} as const;

/** The HTTP status of a failure that the listener itself answers. */
export type PlainErrorCode = keyof typeof failures;

/** The JSON body for `code`. */
export function plainErrorBody(code: PlainErrorCode): string {
  return JSON.stringify({ error: { code, ...failures[code] } });
}

/** A whole response for a failure outside every binding. */
export function plainError(code: PlainErrorCode): HttpResponse {
  return {
    status: code,
    header: new Headers({ "content-type": "application/json" }),
    body: new TextEncoder().encode(plainErrorBody(code)),
  };
}
