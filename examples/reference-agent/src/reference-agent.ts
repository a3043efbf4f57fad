import { type AgentDefinition, type AgentServerOptions, defineAgent, type Turn } from "@a2a-connect/server";
import { runCommand } from "./commands.ts";
import { findTckRow } from "./tck-rows.ts";

/** What the agent declares: everything, as little as possible, or an extension that callers must list. */
export type Profile = "full" | "bare" | "required-extension";

export const profiles: readonly Profile[] = ["full", "bare", "required-extension"];

const anything = ["*/*"];
const plain = ["text/plain", "application/json"];

const skills = [
  {
    id: "commands",
    name: "Commands",
    description:
      "Does what the text says: streams, asks, fails, sleeps. `npm start -- --help` lists what it knows.",
    tags: ["reference", "testing"],
    examples: ["task hello", "stream 10 200", "ask What is your name?"],
  },
];

/** The agent behind `npm start`. */
export function createReferenceAgent(profile: Profile): AgentDefinition {
  return defineAgent({
    card: {
      name: "a2a-connect reference agent",
      description: "Shows and tests every corner of A2A: each message says what is to happen.",
      version: "0.1.0",
      defaultInputModes: profile === "bare" ? plain : anything,
      defaultOutputModes: anything,
      skills,
      extensions:
        profile === "required-extension"
          ? [{ uri: "urn:a2a:tck:required-extension", description: "Callers must list it.", required: true }]
          : [],
    },
    lifecycle: { asks: true, asksForAuth: true },
    cancelGraceMs: 2_000,
    execute: answer,
  });
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
  const protocolVersions = profile === "full" ? ["1.0", "1.1"] : ["1.0"];
  return { limits, protocolVersions, extendedCard: { find: () => extended, open: true } };
}

function answer(turn: Turn): ReturnType<typeof runCommand> {
  return findTckRow(turn.message.messageId)?.(turn) ?? runCommand(turn);
}
