// Cards of agents before A2A 1.0, each with what it says as a card of 1.0 and what was odd about it.
import { readdirSync, readFileSync } from "node:fs";
import { readCard } from "@a2a-connect/client/internal";
import { formatMessage } from "@a2a-connect/core/internal";
import { AgentCardSchema } from "@a2a-connect/proto";
import { expect, it } from "vitest";

const folder = new URL("older-card/", import.meta.url);
const files = readdirSync(folder);

it("there are four of them", () => expect(files).toHaveLength(4));

it.each(files)("%s is read as its vector says, and asks for what it asked for", async (file) => {
  const vector = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
  const { card, warnings } = await readCard(JSON.stringify(vector.card));
  expect({ card: formatMessage(AgentCardSchema, card), warnings }).toEqual(vector.expected);
  expect(card.securityRequirements.length > 0).toBe("authentication" in vector.card);
});
