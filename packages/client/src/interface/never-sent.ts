import { codeOf, isCertificateCode } from "./network-failure.ts";

/**
 * Whether an error shows that not a byte of the request left this machine, or none was read: no such host, nobody
 * listening, no route, a certificate that was refused. Node tells that in the codes of its errors; browsers tell nothing.
 * An error that stands for several attempts shows it only when each of them does.
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

/** Codes of failures that a connection has before it is one. */
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

/** Codes that an open connection may fail with, too: they say so only of connecting. */
const connectCodes: ReadonlySet<string> = new Set(["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"]);

function failedBeforeSending(error: Error): boolean {
  const code = codeOf(error);
  return (
    neverSentCodes.has(code) ||
    isCertificateCode(code) ||
    (connectCodes.has(code) && "syscall" in error && error.syscall === "connect")
  );
}
