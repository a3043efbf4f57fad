import { shownUrl } from "@a2a-connect/core/internal";
import { CardRefusedError } from "../errors.ts";
import type { ConnectOptions, ReceivedCard } from "../options.ts";

/** Verifies a card. @throws CardRefusedError with the error of `verifyCard` as its cause */
export async function verifyReceived(
  received: ReceivedCard,
  verifyCard: ConnectOptions["verifyCard"],
): Promise<void> {
  try {
    await verifyCard?.(received);
  } catch (cause) {
    throw new CardRefusedError(...explain(cause, received));
  }
}

/** An error with a hint of its own, such as a trust policy's, needs no further words. */
function explain(cause: unknown, received: ReceivedCard): ConstructorParameters<typeof CardRefusedError> {
  if (cause instanceof Error && "hint" in cause && typeof cause.hint === "string") {
    return [cause.message, { hint: cause.hint, cause }];
  }
  const reason = cause instanceof Error ? cause.message : String(cause);
  const end = /[.?!]$/.test(reason) ? "" : ".";
  const hint = "Look at the cause for what its verifier found.";
  return [`${nameOf(received)} is not trusted: ${reason}${end}`, { hint, cause }];
}

/** The name of a card in a sentence about it. */
export function nameOf({ url, extended }: ReceivedCard): string {
  const name = extended ? "The extended card" : "The card";
  return url === undefined ? name : `${name} ${extended ? "of the agent " : ""}at ${shownUrl(url)}`;
}
