import { BadRequestSchema, ErrorInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type A2AErrorReason,
  type ErrorEntry,
  errorCatalogue,
  findErrorEntry,
  genericErrors,
  isA2AErrorReason,
} from "./error-catalogue.ts";

/** One field of a request that is wrong: `field` is a camelCase dotted path such as `message.parts[0]` (requirement E-3). */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** An error of the catalogue as a caller sees it, on any wire. */
export interface A2AErrorInfo {
  readonly reason: A2AErrorReason;
  readonly entry: ErrorEntry;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * The error for `reason`, the same on every wire: its code from the catalogue and a `google.rpc.ErrorInfo` detail (spec
 * §3.3.2; requirement E-2). Keys of `metadata` are camelCase, values are strings (E-5).
 *
 * The caller sees `message`: it must not contain secrets, or a hint that something exists which the caller may not see.
 */
export function a2aError(
  reason: A2AErrorReason,
  message: string,
  metadata: Readonly<Record<string, string>> = {},
): ConnectError {
  const { code, domain } = errorCatalogue[reason];
  return new ConnectError(message, code, undefined, [
    { desc: ErrorInfoSchema, value: { reason, domain, metadata: { ...metadata } } },
  ]);
}

/** INVALID_PARAMS with a `google.rpc.BadRequest` that names every wrong field (requirement E-3). */
export function invalidParams(violations: FieldViolation | readonly FieldViolation[]): ConnectError {
  const list = Array.isArray(violations)
    ? (violations as readonly FieldViolation[])
    : [violations as FieldViolation]; // Array.isArray does not narrow readonly arrays
  const sentence = list
    .map(({ field, description }) => (field === "" ? description : `${field}: ${description}`))
    .join("; ");
  const error = a2aError("INVALID_PARAMS", sentence);
  const fieldViolations = list.map((violation) => ({ ...violation }));
  error.details.push({ desc: BadRequestSchema, value: { fieldViolations } });
  return error;
}

/** The error for a request body of more than `maxBytes`. */
export function bodyTooLarge(maxBytes: number): ConnectError {
  return a2aError("BODY_TOO_LARGE", `the request body is larger than the limit of ${maxBytes} bytes`, {
    maxBytes: String(maxBytes),
  });
}

/**
 * The catalogue's view of a caught error, or undefined when it has no reason that we know. Reads the ErrorInfo
 * detail, so it gives the same answer on all wires (requirement E-4).
 */
export function findA2AError(error: unknown): A2AErrorInfo | undefined {
  if (!(error instanceof ConnectError)) {
    return undefined;
  }
  for (const info of findErrorDetails(error, ErrorInfoSchema)) {
    const entry = findErrorEntry(info.reason);
    if (entry !== undefined && isA2AErrorReason(info.reason) && entry.domain === info.domain) {
      return { reason: info.reason, entry, metadata: info.metadata };
    }
  }
  return undefined;
}

/** The field violations of an error; empty when the error is about something else. */
export function findFieldViolations(error: unknown): readonly FieldViolation[] {
  if (!(error instanceof ConnectError)) {
    return [];
  }
  return findErrorDetails(error, BadRequestSchema).flatMap((detail) => detail.fieldViolations);
}

/** `jsonRpcCode` and `httpStatus` of any error: by its reason, else by its Connect code (requirement E.1). */
export function wireCodes(error: ConnectError): Pick<ErrorEntry, "jsonRpcCode" | "httpStatus"> {
  return findA2AError(error)?.entry ?? genericErrors[error.code];
}

/**
 * The error that a caller is told for any thrown value: a ConnectError as it is, an abort as Canceled, and everything
 * else as Internal with a fixed text. The cause stays attached for the log and never reaches a wire.
 */
export function toConnectError(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) {
    return thrown;
  }
  if (thrown instanceof Error && thrown.name === "AbortError") {
    return new ConnectError("the call was canceled", Code.Canceled, undefined, undefined, thrown);
  }
  return new ConnectError("Internal error", Code.Internal, undefined, undefined, thrown);
}

/** The details of one type. */
export function findErrorDetails<Desc extends DescMessage>(
  error: ConnectError,
  desc: Desc,
): MessageShape<Desc>[] {
  return error.findDetails(desc);
}
