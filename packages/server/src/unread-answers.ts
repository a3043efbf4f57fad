import { a2aError } from "@a2a-connect/core";
import { SharedBudget, shareByLimits } from "@a2a-connect/core/internal";
import { RetryInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import type { ConnectError } from "@connectrpc/connect";

/** Size up to which an answer is small. */
const smallBytes = 64 * 1024;

/** When a caller should try again, in seconds. */
const retryAfterSeconds = 1;

/**
 * The memory of all answers, of ports and mounts with the same limit, until their readers have taken them; CAPACITY when it is used
 * up. One address has 7/8 of it at most. There is an eighth more for small answers. A single answer may be larger than all of it: otherwise its
 * caller could never get it.
 */
export const findUnreadAnswers: (limits: { readonly maxUnreadBytes: number }) => SharedBudget = shareByLimits(
  ({ maxUnreadBytes: max }) =>
    new SharedBudget({ max, maxShare: 7 / 8, small: smallBytes, refuse: () => tooMuch(max) }),
);

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
