import { type A2AErrorReason, a2aError, findA2AError } from "@a2a-connect/core";
import { toConnectError } from "@a2a-connect/core/internal";
import { RetryInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { Code, ConnectError } from "@connectrpc/connect";
import { mergeNonProtocolHeaders } from "@connectrpc/connect/protocol";
import type { BindingSettings, ErrorContext } from "./options.ts";

/**
 * The error that the caller gets for any thrown value. `onError` gets what the caller must not see, because it could be
 * a secret.
 */
export function explainFailure(
  thrown: unknown,
  context: ErrorContext,
  { onError }: Pick<BindingSettings, "onError">,
): ConnectError {
  const error = toConnectError(thrown);
  if (isMasked(thrown, error)) {
    onError(thrown, context);
  }
  return withReason(error);
}

/**
 * The reason of errors that other code throws with a code alone. By the reason a caller recognises them on every wire.
 */
const reasons: ReadonlyMap<Code, A2AErrorReason> = new Map([
  [Code.Unavailable, "UNAVAILABLE"],
  [Code.DataLoss, "DATA_LOSS"],
  [Code.InvalidArgument, "INVALID_PARAMS"],
  [Code.Unauthenticated, "UNAUTHENTICATED"],
  [Code.PermissionDenied, "PERMISSION_DENIED"],
]);

function withReason(error: ConnectError): ConnectError {
  const reason = reasons.get(error.code);
  if (reason === undefined || findA2AError(error) !== undefined) {
    return error;
  }
  const { code, details } = a2aError(reason, error.rawMessage);
  const named = new ConnectError(error.rawMessage, code, error.metadata, undefined, error.cause);
  named.details.push(...details, ...error.details);
  return named;
}

/** Whether to log an error: it is the server's fault and has a hidden cause. */
function isMasked(thrown: unknown, error: ConnectError): boolean {
  const serverFault = [Code.Internal, Code.Unknown, Code.DataLoss].includes(error.code);
  return serverFault && (thrown !== error || error.cause !== undefined);
}

/**
 * Adds what an error says in HTTP's own fields: its metadata, `WWW-Authenticate` for missing credentials (requirement
 * E.1) and `Retry-After` from a `google.rpc.RetryInfo`.
 */
export function addErrorHeaders(header: Headers, error: ConnectError): void {
  mergeNonProtocolHeaders(header, error.metadata);
  if (error.code === Code.Unauthenticated && !header.has("www-authenticate")) {
    header.set("www-authenticate", "Bearer");
  }
  const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  if (delay !== undefined) {
    header.set("retry-after", String(Math.max(1, Number(delay.seconds) + (delay.nanos > 0 ? 1 : 0))));
  }
}
