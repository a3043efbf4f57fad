import { type AgentClient, type ConnectOptions, connectAgent as connectAnywhere } from "@a2a-connect/client";
import type { ClientPlatform } from "@a2a-connect/client/internal";
import { visibleText } from "@a2a-connect/core/internal";
import type { AgentCard } from "@a2a-connect/proto";
import type { TrustPolicy } from "@a2a-connect/signing";
import { isLoopbackHost } from "../network/address-guard.ts";
import { nodePlatform } from "./node-platform.ts";
import type { ClientTlsOptions } from "./tls-options.ts";

/** Options for calling an agent from Node. */
export interface NodeConnectOptions extends ConnectOptions {
  /** For all wires, and for the card. It does not apply to a `fetch` of the caller's own. */
  readonly tls?: ClientTlsOptions;
  /**
   * Targets that the card may name although they are not public (`untrusted`): hosts, `host:port`, addresses, networks.
   */
  readonly allow?: readonly string[];
  /**
   * Which cards the client uses. It refuses others with a CardRefusedError whose cause is a CardNotTrustedError. The
   * guard of `untrusted` fetches the key sets that signatures name, even if `untrusted` is not set. Each alarm goes to
   * `onWarning` once. A `verifyCard` beside this option judges the cards that the policy trusts. Default: all cards.
   */
  readonly trust?: TrustPolicy;
}

/**
 * Finds an agent and prepares to call it, also over gRPC: `connectAgent` of `@a2a-connect/client` with what Node adds.
 * Parts of the caller's own `platform` take precedence.
 *
 * @param reference URL of the agent or of its card, or the card
 * @throws AgentError when there is no such agent, or it cannot be called; Error for invalid options, TypeError for an
 *   invalid policy
 */
export async function connectAgent(
  reference: string | URL | AgentCard,
  options: NodeConnectOptions = {},
): Promise<AgentClient> {
  const { tls, allow, trust, platform: given = {}, ...others } = options;
  const cardUrl = findCardUrl(reference);
  const node = nodePlatform({
    ...(tls === undefined ? {} : { tls }),
    ...(allow === undefined ? {} : { allow }),
    ...(options.untrusted === undefined ? {} : { untrusted: options.untrusted }),
    ...(options.connectTimeoutMs === undefined ? {} : { connectTimeoutMs: options.connectTimeoutMs }),
    ...(cardUrl === undefined ? {} : { cardUrl }),
  });
  const platform = mergePlatforms(given, node);
  try {
    const verifyCard =
      trust === undefined
        ? options.verifyCard
        : await trustByPolicy(trust, {
            fetch: platform.guardedFetch,
            onWarning: options.onWarning,
            verifyCard: options.verifyCard,
          });
    const judged = verifyCard === undefined ? others : { ...others, verifyCard };
    return await connectAnywhere(reference, { ...judged, platform });
  } catch (error) {
    await node.close();
    throw error;
  }
}

/** The members of both platforms; those of the first take precedence. */
function mergePlatforms(first: ClientPlatform, second: ClientPlatform): ClientPlatform {
  return {
    ...second,
    ...first,
    transports: [...(first.transports ?? []), ...(second.transports ?? [])],
    close: async () => {
      await Promise.all([first.close?.(), second.close?.()]);
    },
  };
}

/**
 * The URL of a card that the caller names by a URL, or by a host alone. For a host it is http on this machine, and
 * https elsewhere. Undefined for other values, such as a card.
 */
function findCardUrl(reference: unknown): URL | undefined {
  if (reference instanceof URL) return reference;
  if (typeof reference !== "string") return undefined;
  if (/^https?:\/\//i.test(reference)) return URL.parse(reference) ?? undefined;
  const url = URL.parse(`http://${reference}`);
  if (url === null) return undefined;
  return isLoopbackHost(url.hostname) ? url : (URL.parse(`https://${reference}`) ?? undefined);
}

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
async function trustByPolicy(
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
