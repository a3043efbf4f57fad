import {
  type AgentClient,
  type ClientPlatform,
  type ConnectOptions,
  connectAgent as connectAnywhere,
} from "@a2a-connect/client";
import type { AgentCard } from "@a2a-connect/proto";
import { findCardUrl } from "./card-url.ts";
import { nodePlatform } from "./node-platform.ts";
import type { ClientTlsOptions } from "./tls-options.ts";

/** How an agent is called from Node. */
export interface NodeConnectOptions extends ConnectOptions {
  /** For all wires, and for the card. A `fetch` of the caller's has its own. */
  readonly tls?: ClientTlsOptions;
  /** What the card may name although it is not public (`untrusted`): hosts, `host:port`, addresses, networks. */
  readonly allow?: readonly string[];
}

/**
 * Finds an agent and prepares to call it, over gRPC as well: `connectAgent` of `@a2a-connect/client` with what Node adds.
 * Parts of a `platform` that the caller gives win.
 *
 * @param reference URL of the agent or of its card, or the card
 * @throws AgentError when there is no such agent, or none that can be called; Error when the options make no sense
 */
export async function connectAgent(
  reference: string | URL | AgentCard,
  options: NodeConnectOptions = {},
): Promise<AgentClient> {
  const { tls, allow, platform: given = {}, ...others } = options;
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
    return await connectAnywhere(reference, { ...others, platform });
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
