import type { AgentClient } from "@a2a-connect/client";
import { formatMessage, isObject } from "@a2a-connect/core/internal";
import { AgentCardSchema } from "@a2a-connect/proto";

/** Requirements whose scenarios show get and cancel, subscribe, and list; send and stream are shown by the examples. */
const tried: ReadonlySet<string> = new Set(["A-30", "A-35", "A-43"]);

/**
 * Runs the conformance kit's scenarios about reading operations over the connection of a client, with its credentials. What would
 * send a message, or needs bytes of its own, does not apply.
 *
 * @returns the first thing that is not as it should be; undefined when all is
 */
export async function findBrokenOperation(agent: AgentClient): Promise<string | undefined> {
  const { allScenarios, findCardFacts, NotApplicable } = await import("@a2a-connect/conformance");
  const card = formatMessage(AgentCardSchema, agent.card);
  const facts = findCardFacts(isObject(card) ? card : {});
  const refuse = (): never => {
    throw new NotApplicable("only reading operations are tried");
  };
  const client = { ...agent.rpc, sendMessage: refuse, sendStreamingMessage: refuse };
  for (const { ids, title, needs, when, run } of Object.values(allScenarios).flatMap(
    (group) => group.scenarios,
  )) {
    if (needs !== "any" || !tried.has(ids[0] ?? "") || !when.every((fact) => facts.has(fact))) continue;
    const stage = {
      ...({ wire: "jsonrpc", client, spec: "1.0.1", note: () => {} } as const),
      get target() {
        return refuse();
      },
    };
    try {
      await run(stage);
    } catch (error) {
      if (!(error instanceof NotApplicable))
        return `not so: ${title}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return undefined;
}
