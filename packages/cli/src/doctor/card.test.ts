import { AgentCardSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it, vi } from "vitest";
import { judgeDeclarations, readFields } from "./card.ts";

/** How often a list of more than a few elements is searched from its beginning while something is done. */
function countSearches(run: () => void): number {
  const searches = vi.spyOn(Array.prototype, "includes");
  run();
  const count = searches.mock.contexts.filter((list) => (list as unknown[]).length > 10).length;
  searches.mockRestore();
  return count;
}

describe("a card with many names", () => {
  it("has its requirements looked up among its schemes", () => {
    const names = Array.from({ length: 100 }, (_, at) => `scheme-${at}`);
    const card = create(AgentCardSchema, {
      securitySchemes: Object.fromEntries(names.map((name) => [name, {}])),
      securityRequirements: [{ schemes: Object.fromEntries([...names, "other"].map((name) => [name, {}])) }],
    });
    let found: ReturnType<typeof judgeDeclarations> = [];
    expect(countSearches(() => (found = judgeDeclarations(card)))).toBe(0);
    expect(found).toContainEqual(expect.objectContaining({ id: "security.undeclared", evidence: "other" }));
  });

  it("has its missing fields looked up among those that the schema misses", () => {
    const skills = Array.from({ length: 100 }, () => ({}));
    const defects = skills.map((_, at) => ({
      kind: "missing" as const,
      path: `skills[${at}].id`,
      problem: "",
    }));
    const examined = { json: { skills }, text: "", url: undefined };
    expect(countSearches(() => readFields(examined as never, defects, () => false, true))).toBe(0);
  });
});
