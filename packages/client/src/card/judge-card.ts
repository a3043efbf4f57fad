import type { ClientClock } from "../clock.ts";
import { UntrustedOutputError } from "../errors.ts";
import type { ConnectOptions, ReceivedCard } from "../options.ts";
import { CardVerdict } from "./card-verdict.ts";
import { nameOf } from "./verify-received.ts";

/** How to judge cards. */
export type JudgeOptions = Pick<ConnectOptions, "verifyCard" | "inspect">;

/**
 * Verifies a card and then inspects it, before the client uses anything in it.
 *
 * @returns the verdict, which verifies the card again while it is cached
 * @throws CardRefusedError when `verifyCard` refuses it, UntrustedOutputError when `inspect` does; each with the reason
 *   as its cause
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
