import { Code } from "@connectrpc/connect";

/** The domain of every error that the A2A specification names (spec §3.3.2). */
export const protocolErrorDomain = "a2a-protocol.org";

/** The domain of errors that only this implementation knows. */
export const ownErrorDomain = "a2a-connect";

/** The name and numbers of one error on each wire. */
export interface ErrorEntry {
  /** `google.rpc.ErrorInfo.domain`. */
  readonly domain: typeof protocolErrorDomain | typeof ownErrorDomain;
  /** gRPC, gRPC-Web and Connect. */
  readonly code: Code;
  /** `error.code` of a JSON-RPC response. */
  readonly jsonRpcCode: number;
  /** Status line of an HTTP+JSON response. */
  readonly httpStatus: number;
}

function protocol(jsonRpcCode: number, code: Code, httpStatus: number): ErrorEntry {
  return { domain: protocolErrorDomain, code, jsonRpcCode, httpStatus };
}

function own(jsonRpcCode: number, code: Code, httpStatus: number): ErrorEntry {
  return { domain: ownErrorDomain, code, jsonRpcCode, httpStatus };
}

/** The closed set of reasons, so that a `switch` over them is exhaustive. */
export type A2AErrorReason =
  | "TASK_NOT_FOUND"
  | "TASK_NOT_CANCELABLE"
  | "PUSH_NOTIFICATION_NOT_SUPPORTED"
  | "UNSUPPORTED_OPERATION"
  | "CONTENT_TYPE_NOT_SUPPORTED"
  | "INVALID_AGENT_RESPONSE"
  | "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
  | "EXTENSION_SUPPORT_REQUIRED"
  | "VERSION_NOT_SUPPORTED"
  | "INVALID_PARAMS"
  | "TASK_GENERATION_MISMATCH"
  | "IDEMPOTENCY_CONFLICT"
  | "BODY_TOO_LARGE"
  | "CAPACITY"
  | "TASK_TOO_LARGE"
  | "DATA_LOSS"
  | "UNAVAILABLE"
  | "UNAUTHENTICATED"
  | "PERMISSION_DENIED"
  | "RATE_LIMITED";

/** The JSON-RPC number for errors without a number of their own. */
const internalErrorCode = -32603;

/**
 * The one table of errors, keyed by `google.rpc.ErrorInfo.reason`. Every wire reads its own column
 * (spec §5.4, the numbers of 1.0.1; requirements E.1).
 */
export const errorCatalogue: Readonly<Record<A2AErrorReason, ErrorEntry>> = {
  TASK_NOT_FOUND: protocol(-32001, Code.NotFound, 404),
  TASK_NOT_CANCELABLE: protocol(-32002, Code.FailedPrecondition, 400),
  PUSH_NOTIFICATION_NOT_SUPPORTED: protocol(-32003, Code.FailedPrecondition, 400),
  UNSUPPORTED_OPERATION: protocol(-32004, Code.FailedPrecondition, 400),
  CONTENT_TYPE_NOT_SUPPORTED: protocol(-32005, Code.InvalidArgument, 400),
  INVALID_AGENT_RESPONSE: protocol(-32006, Code.Internal, 500),
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: protocol(-32007, Code.FailedPrecondition, 400),
  EXTENSION_SUPPORT_REQUIRED: protocol(-32008, Code.FailedPrecondition, 400),
  VERSION_NOT_SUPPORTED: protocol(-32009, Code.FailedPrecondition, 400),
  // The specification does not list this error, but its SDKs use this name in its domain.
  INVALID_PARAMS: protocol(-32602, Code.InvalidArgument, 400),
  // Draft of A2A 1.1.
  TASK_GENERATION_MISMATCH: protocol(-32010, Code.Aborted, 409),

  IDEMPOTENCY_CONFLICT: own(-32050, Code.FailedPrecondition, 409),
  BODY_TOO_LARGE: own(-32051, Code.ResourceExhausted, 413),
  CAPACITY: own(-32052, Code.ResourceExhausted, 429),
  TASK_TOO_LARGE: own(-32053, Code.ResourceExhausted, 413),
  DATA_LOSS: own(-32054, Code.DataLoss, 500),
  // The store or the whole server is temporarily unavailable. On JSON-RPC it has the number of internal errors (E.1).
  UNAVAILABLE: own(internalErrorCode, Code.Unavailable, 503),
  // Credentials are missing or wrong; the caller lacks a scope; the caller calls too often (docs/security.md).
  UNAUTHENTICATED: own(-32055, Code.Unauthenticated, 401),
  PERMISSION_DENIED: own(-32056, Code.PermissionDenied, 403),
  RATE_LIMITED: own(-32057, Code.ResourceExhausted, 429),
};

/** The names of an error without a reason on the JSON wires, by its Connect code (requirements E.1, "Generic"). */
export const genericErrors: Readonly<Record<Code, Pick<ErrorEntry, "jsonRpcCode" | "httpStatus">>> = {
  [Code.Canceled]: { jsonRpcCode: -32603, httpStatus: 499 },
  [Code.Unknown]: { jsonRpcCode: -32603, httpStatus: 500 },
  [Code.InvalidArgument]: { jsonRpcCode: -32602, httpStatus: 400 },
  [Code.DeadlineExceeded]: { jsonRpcCode: -32603, httpStatus: 504 },
  [Code.NotFound]: { jsonRpcCode: -32603, httpStatus: 404 },
  [Code.AlreadyExists]: { jsonRpcCode: -32603, httpStatus: 409 },
  [Code.PermissionDenied]: { jsonRpcCode: -32056, httpStatus: 403 },
  [Code.ResourceExhausted]: { jsonRpcCode: -32603, httpStatus: 429 },
  [Code.FailedPrecondition]: { jsonRpcCode: -32603, httpStatus: 400 },
  [Code.Aborted]: { jsonRpcCode: -32603, httpStatus: 409 },
  [Code.OutOfRange]: { jsonRpcCode: -32602, httpStatus: 400 },
  [Code.Unimplemented]: { jsonRpcCode: -32601, httpStatus: 501 },
  [Code.Internal]: { jsonRpcCode: -32603, httpStatus: 500 },
  [Code.Unavailable]: { jsonRpcCode: -32603, httpStatus: 503 },
  [Code.DataLoss]: { jsonRpcCode: -32603, httpStatus: 500 },
  [Code.Unauthenticated]: { jsonRpcCode: -32055, httpStatus: 401 },
};

/** The reason for a JSON-RPC code, for peers that send no ErrorInfo (requirement E-4). */
export function findReasonByJsonRpcCode(jsonRpcCode: number): A2AErrorReason | undefined {
  return reasonsByJsonRpcCode.get(jsonRpcCode);
}

/** The reason's row, or undefined for a reason this version does not know. */
export function findErrorEntry(reason: string): ErrorEntry | undefined {
  return isA2AErrorReason(reason) ? errorCatalogue[reason] : undefined;
}

/** Whether `reason` is in the catalogue. */
export function isA2AErrorReason(reason: string): reason is A2AErrorReason {
  return Object.hasOwn(errorCatalogue, reason);
}

const reasonsByJsonRpcCode = new Map(
  Object.entries(errorCatalogue)
    .filter(([, { jsonRpcCode }]) => jsonRpcCode !== internalErrorCode)
    .map(([reason, { jsonRpcCode }]) => [jsonRpcCode, reason as A2AErrorReason]), // keys of the table
);
