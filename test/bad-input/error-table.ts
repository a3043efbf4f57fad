/**
 * What each error is called on the wires: requirements E.1, typed in by hand on purpose. The code under test has a table
 * of its own, and this one must not be derived from it.
 */
export const errorTable = {
  invalidParams: { jsonRpc: -32602, grpc: 3, http: 400, reason: "INVALID_PARAMS" },
  /** Bad JSON, and a body that is not of the encoding it names. JSON-RPC has a number for it that says enough. */
  parse: { jsonRpc: -32700, grpc: 3, http: 400, reason: "INVALID_PARAMS", jsonRpcReason: undefined },
  unknownMethod: { jsonRpc: -32601, grpc: 12, http: 404 },
  internal: { jsonRpc: -32603, grpc: 13, http: 500 },
  taskNotFound: { jsonRpc: -32001, grpc: 5, http: 404, reason: "TASK_NOT_FOUND" },
  pushNotSupported: { jsonRpc: -32003, grpc: 9, http: 400, reason: "PUSH_NOTIFICATION_NOT_SUPPORTED" },
  versionNotSupported: { jsonRpc: -32009, grpc: 9, http: 400, reason: "VERSION_NOT_SUPPORTED" },
  /** Of a body: 415 on the status line where the wire has one to say it with (requirements I-10, K-4). */
  contentType: {
    jsonRpc: -32005,
    grpc: 3,
    http: 415,
    jsonRpcHttp: 415,
    reason: "CONTENT_TYPE_NOT_SUPPORTED",
  },
  bodyTooLarge: { jsonRpc: -32051, grpc: 8, http: 413, jsonRpcHttp: 413, reason: "BODY_TOO_LARGE" },
  capacity: { jsonRpc: -32052, grpc: 8, http: 429, reason: "CAPACITY" },
} as const satisfies Record<string, ErrorRow>;

/** One row: its number on each wire. */
export interface ErrorRow {
  readonly jsonRpc: number;
  /** gRPC, gRPC-Web and Connect. */
  readonly grpc: number;
  /** Status line of HTTP+JSON. */
  readonly http: number;
  /** Status line of JSON-RPC, when it is not 200 (requirement I-10). */
  readonly jsonRpcHttp?: number;
  /** `google.rpc.ErrorInfo.reason`. */
  readonly reason?: string;
  /** The same over JSON-RPC, when it is another. */
  readonly jsonRpcReason?: undefined;
}

export type ErrorName = keyof typeof errorTable;

/** Names of the codes of `google.rpc.Code`, by number; Connect writes them in lower case and `canceled` with one L. */
export const grpcCodeNames = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

/** The status line that the Connect protocol gives a unary error. */
export const connectHttpStatus: Readonly<Record<number, number>> = {
  3: 400,
  5: 404,
  8: 429,
  9: 400,
  12: 501,
  13: 500,
};
