import { readTooManyRequests, responseTooLarge } from "@a2a-connect/bindings/client";
import { SilenceError } from "@a2a-connect/client/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import { refusedCode } from "../network/guarded-fetch.ts";

/** What is known about a transport when one of its calls fails. */
export interface GrpcCircumstances {
  /** Aborted when the transport was closed: later failures are Canceled. */
  readonly closed: AbortSignal;
  /** The size limit of a message that the transport reads. */
  readonly maxResponseBytes: number;
}

/**
 * Gives a failure of a connection the code that it has on every other wire: Unavailable, with Node's error as its
 * cause.
 *
 * @param signal of the call
 */
export function translateGrpcFailure(
  thrown: unknown,
  signal: AbortSignal,
  { closed, maxResponseBytes }: GrpcCircumstances,
): unknown {
  if (signal.aborted) return thrown; // the caller aborted it
  if (closed.aborted) return new ConnectError("the client was closed", Code.Canceled);
  return translateConnectionFailure(thrown, maxResponseBytes);
}

/** Whether a call was given up because the server was silent for too long, or because it exceeded its time limit. */
export function isSilence({ aborted, reason }: AbortSignal): boolean {
  return (
    aborted &&
    (reason instanceof SilenceError ||
      (reason instanceof ConnectError && reason.code === Code.DeadlineExceeded))
  );
}

function translateConnectionFailure(thrown: unknown, maxResponseBytes: number): unknown {
  const error = ConnectError.from(readTooManyRequests(thrown));
  // A status from the server is an answer.
  if (error.isWireError) return error;
  if (error.code === Code.ResourceExhausted) return responseTooLarge(maxResponseBytes);
  const codes = nodeCodes(error.cause);
  if (codes.includes(refusedCode)) {
    const { message } = error.cause instanceof Error ? error.cause : error;
    return new ConnectError(message, Code.PermissionDenied, undefined, undefined, error.cause);
  }
  if (codes.some((code) => !isOfContent(code))) {
    return new ConnectError(
      "the server could not be reached",
      Code.Unavailable,
      undefined,
      undefined,
      error.cause,
    );
  }
  return isCutOff(error)
    ? new ConnectError("the response was cut off", Code.Unavailable, undefined, undefined, error)
    : thrown;
}

/** The `code`s of an error and of its causes. */
function nodeCodes(cause: unknown): string[] {
  const codes: string[] = [];
  for (let at = cause, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if ("code" in at && typeof at.code === "string") codes.push(at.code);
  }
  return codes;
}

/** Codes of zlib, for bytes that did arrive. */
function isOfContent(code: string): boolean {
  return (
    code.startsWith("Z_") ||
    code.startsWith("ERR_BUFFER") ||
    code.startsWith("ERR_PADDING") ||
    code.startsWith("ERR__ERROR")
  );
}

/** A stream that ended without a status. The error is that of Connect's `validateTrailer`, which its words alone tell. */
function isCutOff({ rawMessage }: ConnectError): boolean {
  return rawMessage === "protocol error: missing status";
}
