import { expect, it } from "vitest";
import { configSchema } from "./config-schema.ts";

it("is published as it is used", async () => {
  // As Biome has it: short lists stand on one line.
  const text = JSON.stringify(configSchema, null, 2).replaceAll(
    /\[\s+("[^[\]]*")\s+\]/g,
    (_, items: string) => `[${items.replaceAll(/,\s+/g, ", ")}]`,
  );
  await expect(`${text}\n`).toMatchFileSnapshot("../../a2a.config.schema.json");
});

it("describes every member", () => {
  const { server, agent, auth } = configSchema.definitions;
  const members = [server, agent, auth].flatMap(({ properties }) => Object.entries(properties));
  expect(members.length).toBeGreaterThan(12);
  // A reference to `auth` is described where it leads.
  const silent = members.filter(([name, member]) => name !== "auth" && !("description" in member));
  expect(silent).toEqual([]);
});
