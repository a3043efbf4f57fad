import { partText } from "@a2a-connect/core";
import type { Message } from "@a2a-connect/proto";
import { type AgentDefinition, defineAgent } from "@a2a-connect/server";
import { demoSkills } from "./demo-skills.ts";

/** An agent to practise every command with. */
export const demoAgent: AgentDefinition = defineAgent({
  card: {
    name: "a2a demo agent",
    description:
      "Does what the first word of a message says: something to practise every command of a2a with.",
    version: "1.0.0",
    defaultInputModes: ["*/*"],
    defaultOutputModes: ["*/*"],
    skills: demoSkills,
  },
  lifecycle: { asks: true, asksForAuth: true, reportsProgress: true },
  route,
});

/** The skill that the first word names, echo where it names none. */
function route(message: Message): string {
  const [word = ""] = partText(message).trim().toLowerCase().split(/\s+/, 1);
  return demoSkills.some(({ id }) => id === word) ? word : "echo";
}
