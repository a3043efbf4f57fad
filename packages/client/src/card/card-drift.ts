import { findA2AError } from "@a2a-connect/core";
import { Code, ConnectError } from "@connectrpc/connect";
import { InputModeError, RequirementError, TaskRejectedError } from "../errors.ts";
import type { UsedCard } from "../interface/used-card.ts";
import type { AgentCards } from "./agent-cards.ts";
import { driftError } from "./card-changes.ts";

/**
 * Makes a submission once more with the agent's new card, when its failure comes of that.
 *
 * @throws the failure, or CardDriftError when the new card does not help either
 */
export async function withDrift<T>(
  cards: AgentCards,
  signal: AbortSignal,
  submit: () => Promise<T>,
): Promise<T> {
  const used = cards.current;
  try {
    return await submit();
  } catch (error) {
    const changes = await adoptNewCard(cards, error, used, signal);
    try {
      return await submit();
    } catch (again) {
      throw driftError(changes, again, cards.current.resolved.card);
    }
  }
}

/**
 * Fetches the card again when a failure suggests that it has changed. If there is another card, the client uses it from
 * then on.
 *
 * @param used the card of the failed call
 * @returns what has changed
 * @throws `failure` when it has another cause, or no change could explain it; CardDriftError when the new card does not
 *   meet the requirements, CardRefusedError or UntrustedOutputError when it is refused
 */
export async function adoptNewCard(
  cards: AgentCards,
  failure: unknown,
  used: UsedCard,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (!mayComeOfChangedCard(failure)) {
    throw failure;
  }
  const changes = await cards.adoptLatest(used, signal);
  if (changes.length === 0) {
    throw failure;
  }
  return changes;
}

/** Failures of a submission that a changed card explains. The agent created no task in any of them. */
export function mayComeOfChangedCard(error: unknown): boolean {
  if (error instanceof RequirementError || error instanceof InputModeError) {
    return true;
  }
  const reason = findA2AError(error)?.reason;
  return (
    reason === "CONTENT_TYPE_NOT_SUPPORTED" ||
    reason === "VERSION_NOT_SUPPORTED" ||
    reason === "EXTENSION_SUPPORT_REQUIRED" ||
    (error instanceof ConnectError &&
      (error.code === Code.Unimplemented || (error.code === Code.InvalidArgument && error.isWireError)))
  );
}

/** The error for a task that was rejected because of its skill: one that names the changes, when the card has changed. */
export async function explainRejection(
  cards: AgentCards,
  error: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  if (!(error instanceof TaskRejectedError) || !skillReasons.has(error.reason ?? "")) {
    return error;
  }
  try {
    const changes = await cards.adoptLatest(cards.current, signal);
    return changes.length === 0 ? error : driftError(changes, error, cards.current.resolved.card);
  } catch {
    return error; // when the new card is refused, the next submission gets the reason
  }
}

/** Reasons of a rejection that a card with other skills explains (lifecycle extension). */
const skillReasons: ReadonlySet<string> = new Set([
  "unsupported-skill",
  "skill-unavailable",
  "skill-removed",
]);
