import { type AgentClient, type ConnectOptions, connectAgent as connectAnywhere } from "@a2a-connect/client";
import type { ClientPlatform } from "@a2a-connect/client/internal";
import type { AgentCard } from "@a2a-connect/proto";
import type { TrustPolicy } from "@a2a-connect/signing";
import { trustByPolicy } from "./card-trust.ts";
import { findCardUrl } from "./card-url.ts";
import { nodePlatform } from "./node-platform.ts";
import type { ClientTlsOptions } from "./tls-options.ts";

/** How an agent is called from Node. */
export interface NodeConnectOptions extends ConnectOptions {
  /** For all wires, and for the card. A `fetch` of the caller's has its own. */
  readonly tls?: ClientTlsOptions;
  /** What the card may name although it is not public (`untrusted`): hosts, `host:port`, addresses, networks. */
  readonly allow?: readonly string[];
  /**
   * Which cards are used; others are refused with a CardRefusedError whose cause is a CardNotTrustedError. Key sets that signatures
   * name are fetched by the guard of `untrusted`, whether or not that is set; alarms go to `onWarning`, each once. A
   * `verifyCard` beside it is asked about what the policy trusts. Default: every card is.
   */
  readonly trust?: TrustPolicy;
}

/**
 * Finds an agent and prepares to call it, over gRPC as well: `connectAgent` of `@a2a-connect/client` with what Node adds.
 * Parts of a `platform` that the caller gives win.
 *
 * @param reference URL of the agent or of its card, or the card
 * @throws AgentError when there is no such agent, or none that can be called; Error when the options make no sense, TypeError
 *   when the policy does not
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

/** The first platform where both have something. */
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
