import type { ReceivedCard } from "@a2a-connect/client";
import { connectAgent } from "@a2a-connect/node/client";
import { type AgentSituation, prepareConnection, withNameHint } from "./agent-connection.ts";
import { untilAborted } from "./until-aborted.ts";

/**
 * An agent's card as it was received, whether or not this command could call the agent.
 *
 * @throws CliError USAGE, CARD_NOT_FOUND, CARD_INVALID; AgentErrors of the client
 */
export async function receiveCard(situation: AgentSituation): Promise<ReceivedCard> {
  const connection = await prepareConnection(situation);
  const { target, file, options } = connection;
  if (typeof target !== "string") {
    await connection.close();
    return { url: undefined, text: file?.text ?? "", card: target };
  }
  let received: ReceivedCard | undefined;
  try {
    const agent = await untilAborted(
      situation.signal,
      connectAgent(target, {
        ...options,
        verifyCard: (card) => {
          received = card;
        },
      }),
    );
    await agent.close();
    return received ?? { url: target, text: "", card: agent.card };
  } catch (error) {
    if (received !== undefined) {
      return received; // a card, but none that leads to an interface of ours
    }
    throw await withNameHint(error, situation);
  } finally {
    await connection.close();
  }
}
