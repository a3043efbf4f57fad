import { a2aError } from "@a2a-connect/core";
import { SharedBudget } from "@a2a-connect/core/internal";
import { RetryInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import type { ConnectError } from "@connectrpc/connect";

/** Size up to which an answer is not counted. */
const smallBytes = 64 * 1024;

/** When a caller should try again, in seconds. */
const retryAfterSeconds = 1;

/**
 * The memory of all answers of a port until their readers have taken them; CAPACITY when it is used up. One address has 7/8 of it
 * at most.
 *
 * @param maxBytes of all of them together; a single answer may be larger, so that a caller can get it at all
 */
export function createUnreadAnswers(maxBytes: number): SharedBudget {
  return new SharedBudget({
    max: maxBytes,
    maxShare: 7 / 8,
    uncounted: smallBytes,
    refuse: () => tooMuch(maxBytes),
  });
}

function tooMuch(maxBytes: number): ConnectError {
  const error = a2aError(
    "CAPACITY",
    `answers that have not been read yet take most of ${maxBytes} bytes; try again later, or ask for less`,
  );
  error.details.push({
    desc: RetryInfoSchema,
    value: { retryDelay: { seconds: BigInt(retryAfterSeconds) } },
  });
  return error;
}
