import type { ClientClock } from "../clock.ts";
import { UntrustedOutputError } from "../errors.ts";
import type { ConnectOptions, ReceivedCard } from "../options.ts";
import { CardVerdict } from "./card-verdict.ts";
import { nameOf } from "./verify-received.ts";

/** How cards are judged. */
export type JudgeOptions = Pick<ConnectOptions, "verifyCard" | "inspect">;

/**
 * Has a card verified, then inspected, before anything in it is used.
 *
 * @returns by which it is verified again while it is kept
 * @throws CardRefusedError when `verifyCard` refuses it, UntrustedOutputError when `inspect` does; each with the reason as its
 *   cause
 */
export async function judgeCard(
  received: ReceivedCard,
  { verifyCard, inspect }: JudgeOptions,
  clock: ClientClock,
): Promise<CardVerdict> {
  const verdict = new CardVerdict(received, verifyCard, clock);
  await verdict.renew();
  try {
    await inspect?.({ kind: "card", card: received.card });
  } catch (cause) {
    throw new UntrustedOutputError(`${nameOf(received)} was refused by its inspector.`, {
      hint: "Look at the cause for what was wrong with it.",
      cause,
    });
  }
  return verdict;
}
