import type { AgentClient } from "@a2a-connect/client";
import type { AgentCard } from "@a2a-connect/proto";
import type { NodeConnectOptions } from "./client/connect-from-node.ts";

/**
 * `connectAgent` of `@a2a-connect/node/client`. The client is loaded when this is first called, because a server needs none of
 * it.
 *
 * @param reference URL of the agent or of its card, or the card
 * @throws AgentError (as a rejection) when there is no such agent, or none that can be called; Error when the options make no
 *   sense, TypeError when the policy does not
 */
export async function connectAgent(
  reference: string | URL | AgentCard,
  options?: NodeConnectOptions,
): Promise<AgentClient> {
  const client = await import("./client/connect-from-node.ts");
  return client.connectAgent(reference, options);
}
