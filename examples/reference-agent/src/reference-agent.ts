import { type AgentServerOptions, defineAgent, type TurnAgent } from "@a2a-connect/server";
import type { SideEffect } from "./durable-commands.ts";
import { createSkills, executeTurn, route } from "./skills.ts";

/** What the agent declares: everything, as little as possible, or an extension that callers must list. */
export type Profile = "full" | "bare" | "required-extension";

export const profiles: readonly Profile[] = ["full", "bare", "required-extension"];

const anything = ["*/*"];
const plain = ["text/plain", "application/json"];

/**
 * The agent behind `npm start`.
 *
 * @param sideEffect what each step of `steps` does. Default: nothing
 */
export function createReferenceAgent(profile: Profile, sideEffect?: SideEffect): TurnAgent {
  const agent: TurnAgent = {
    card: {
      name: "a2a-connect reference agent",
      description: "Shows and tests every corner of A2A: each message says what is to happen.",
      version: "0.2.0",
      defaultInputModes: profile === "bare" ? plain : anything,
      defaultOutputModes: anything,
      skills: createSkills(sideEffect),
      extensions:
        profile === "required-extension"
          ? [{ uri: "urn:a2a:tck:required-extension", description: "Callers must list it.", required: true }]
          : [],
    },
    lifecycle: { asks: true, asksForAuth: true },
    cancelGraceMs: 2_000,
    route,
    execute: executeTurn,
  };
  defineAgent(agent);
  return agent;
}

/** How the server of a profile is set up. */
export function profileOptions(profile: Profile): Omit<AgentServerOptions, "agent"> {
  const limits = { maxTaskBytes: 256 * 2 ** 20 };
  if (profile === "bare") {
    return { streaming: false, limits };
  }
  const { card } = createReferenceAgent(profile);
  const extended = { ...card, description: `${card.description} This is its extended card.` };
  // The draft comes last, so that its entries in the card do, too.
  const protocolVersions = profile === "full" ? ["1.0", "1.1", "0.3"] : ["1.0", "0.3"];
  return { limits, protocolVersions, extendedCard: { find: () => extended, open: true } };
}
