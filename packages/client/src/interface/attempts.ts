import { shownText } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Candidate } from "./choose-interfaces.ts";
import { shownInterface } from "./choose-interfaces.ts";
import { findNetworkFailure } from "./network-failure.ts";

/** An interface that did not answer. */
export interface Attempt {
  readonly candidate: Candidate;
  readonly error: unknown;
}

/** The interface's wire cannot call its URL: no call was tried. */
export class NotCallable extends Error {
  override readonly name = "NotCallable";
  /** Says that nothing was sent, in the form that platforms use (see `wasNeverSent`). */
  readonly code = "ERR_ADDRESS_REFUSED";
}

/** Whether a call probably failed because the interface was not reached. */
export function isOutOfReach(error: unknown): boolean {
  return error instanceof NotCallable || ConnectError.from(error).code === Code.Unavailable;
}

/** Why an interface did not answer, as the rest of a sentence about it. */
export function shownReason(error: unknown): string {
  if (error instanceof NotCallable) {
    return `cannot be called: ${error.message}`;
  }
  const failure = findNetworkFailure(error);
  return failure?.reason ?? `failed: ${shownText(ConnectError.from(error).rawMessage)}`;
}

/**
 * The error when no interface answered. A refusal by a server takes precedence and is unchanged. Otherwise it is one
 * Unavailable that names each interface and why it failed. It counts as "never sent" only when all of them do.
 */
export function failureOf(attempts: readonly Attempt[]): unknown {
  const answered = attempts.find(
    ({ error }) => !(error instanceof NotCallable) && findNetworkFailure(error) === undefined,
  );
  if (answered !== undefined) {
    return answered.error;
  }
  const errors = attempts.map(({ error }) => error);
  const reasons = attempts.map(
    ({ candidate, error }) => `${shownInterface(candidate.interface)} ${shownReason(error)}`,
  );
  const cause = errors.length === 1 ? errors[0] : new AggregateError(errors, "no interface answered");
  return new ConnectError(reasons.join("; "), Code.Unavailable, undefined, undefined, cause);
}
