import { type ConnectOptions, visibleText } from "@a2a-connect/client";
import type { TrustPolicy } from "@a2a-connect/signing";

/** What a policy is carried out with. */
export interface CardTrustOptions {
  /** Fetches key sets, when the policy has no `fetch` of its own for that. */
  readonly fetch: typeof globalThis.fetch | undefined;
  /** Told each alarm once, however often the card is verified. */
  readonly onWarning: ConnectOptions["onWarning"];
  /** Asked about every card that the policy trusts. */
  readonly verifyCard: ConnectOptions["verifyCard"];
}

/** Alarms that are remembered as told; a card that has ever new ones makes us forget the old. */
const maxTold = 1_000;

/**
 * Has only cards used that a policy trusts: what this gives is the client's option `verifyCard`.
 *
 * @throws TypeError when the policy has no meaning
 */
export async function trustByPolicy(
  policy: TrustPolicy,
  { fetch, onWarning, verifyCard }: CardTrustOptions,
): Promise<NonNullable<ConnectOptions["verifyCard"]>> {
  // Loaded for those who have a policy: the others are to start quickly.
  const { trustCards } = await import("@a2a-connect/signing");
  const told = new Set<string>();
  const verifyTrust = trustCards(policy, {
    ...(fetch === undefined ? {} : { fetch }),
    onAlarm: ({ text }) => {
      if (told.has(text)) return;
      if (told.size >= maxTold) told.clear();
      told.add(text);
      onWarning?.(visibleText(text)); // it may repeat what the card says
    },
  });
  return async (received) => {
    await verifyTrust(received);
    await verifyCard?.(received);
  };
}
