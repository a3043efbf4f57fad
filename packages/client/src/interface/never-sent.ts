import { codeOf, isCertificateCode } from "./network-failure.ts";

/**
 * Whether an error proves that no byte of the request left this machine, or that none was read: no such host, no
 * listener, no route, a refused certificate. Node's errors tell that by their codes; browsers do not tell. An error for
 * several attempts proves it only when each of them does.
 */
export function wasNeverSent(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > maxDepth) {
    return false;
  }
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.every((each) => wasNeverSent(each, depth + 1));
  }
  return failedBeforeSending(error) || wasNeverSent(error.cause, depth + 1);
}

const maxDepth = 8;

/** Codes of failures before a connection is open. */
const neverSentCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ConnectionRefused",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_ADDRESS_REFUSED",
  "ERR_SSL_WRONG_VERSION_NUMBER",
]);

/** Codes that an open connection may fail with, too. They prove it only for an attempt to connect. */
const connectCodes: ReadonlySet<string> = new Set(["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"]);

function failedBeforeSending(error: Error): boolean {
  const code = codeOf(error);
  return (
    neverSentCodes.has(code) ||
    isCertificateCode(code) ||
    (connectCodes.has(code) && "syscall" in error && error.syscall === "connect")
  );
}
