import { type ConnectOptions, visibleText } from "@a2a-connect/client";
import type { TrustPolicy } from "@a2a-connect/signing";

/** What the verifier needs besides a policy. */
export interface CardTrustOptions {
  /** Fetches key sets, when the policy has no `fetch` of its own. */
  readonly fetch: typeof globalThis.fetch | undefined;
  /** Gets each alarm once, however often the card is verified. */
  readonly onWarning: ConnectOptions["onWarning"];
  /** Judges every card that the policy trusts. */
  readonly verifyCard: ConnectOptions["verifyCard"];
}

/** How many reported alarms are remembered. When a card has ever new ones, the oldest are forgotten. */
const maxTold = 1_000;

/**
 * Makes the client use only cards that a policy trusts: the result is the client's option `verifyCard`.
 *
 * @throws TypeError when the policy is invalid
 */
export async function trustByPolicy(
  policy: TrustPolicy,
  { fetch, onWarning, verifyCard }: CardTrustOptions,
): Promise<NonNullable<ConnectOptions["verifyCard"]>> {
  // Loaded only with a policy, so that other clients start quickly.
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
