import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

describe("the table of threats in docs/trust.md", () => {
  const page = readFileSync(join(root, "docs/trust.md"), "utf8");
  const rows = page
    .slice(page.indexOf("| attack | what stops it | what shows it |"))
    .split("\n\n", 1)
    .flatMap((table) => table.split("\n").slice(2))
    .map((row) => row.split(" | "));
  const vectors = new Set(
    readdirSync(join(root, "test/vectors/agent-card")).map((file) => file.replace(".json", "")),
  );

  it("is there", () => expect(rows.length).toBeGreaterThan(15));

  for (const [attack = "", , evidence = ""] of rows) {
    it(`names what shows that this is stopped:${attack.replace("|", "")}`, () => {
      const named = [...evidence.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
      expect(named).not.toEqual([]);
      for (const name of named) {
        expect(vectors.has(name) || existsSync(join(root, name)), name).toBe(true);
      }
    });
  }

  it("counts the vectors", () => expect(page).toContain(`${vectors.size} cards`));
});
