import type { JsonObject } from "@bufbuild/protobuf";
import { SignedCard } from "../src/signed-card.ts";
import { createCardMemory } from "../src/trust/card-memory.ts";
import { judgeTrust, type TrustJudgement } from "../src/trust/judge-trust.ts";
import type { TrustQuestion } from "../src/trust/known-agent.ts";
import type { TrustPolicy } from "../src/trust/trust-policy.ts";

export const agentUrl = "https://agent.example/.well-known/agent-card.json";
export const agentKey = "https://agent.example";

/** A card of the agent that demands mutual TLS. */
export const strongCard: JsonObject = {
  name: "A",
  supportedInterfaces: [{ url: "https://agent.example/rpc" }],
  securitySchemes: { m: { mtlsSecurityScheme: {} } },
  securityRequirements: [{ schemes: { m: {} } }],
};

/** A client that meets agents one after the other, and remembers those it trusts. */
export function createTrustClient(policy: Omit<TrustPolicy, "memory"> = {}) {
  const memory = createCardMemory();
  let now = Date.parse("2030-01-01T00:00:00Z");
  const meet = async (
    signers: readonly string[],
    card: JsonObject = strongCard,
    question: Partial<TrustQuestion> = {},
  ): Promise<TrustJudgement> => {
    return await judgeTrust({
      card: new SignedCard(card),
      url: agentUrl,
      thumbprints: signers,
      policy: { ...policy, memory },
      now: () => now,
      ...question,
    });
  };
  return {
    memory,
    meet,
    /** What came of it in short: the fault, or which alarms there were. */
    tell: async (...given: Parameters<typeof meet>): Promise<string> => {
      const { reason, alarms } = await meet(...given);
      return reason ?? (alarms.map(({ kind }) => kind).join(" ") || "trusted");
    },
    wait: (ms: number) => {
      now += ms;
    },
    known: async () => (await memory.read(agentKey))?.thumbprints,
  };
}
