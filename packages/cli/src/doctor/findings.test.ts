import { expect, it } from "vitest";
import rows from "./findings.json" with { type: "json" };

it("has a row only for requirements and scenarios that there are", async () => {
  const { allScenarios, getRequirement } = await import("@a2a-connect/conformance");
  const scenarios = Object.values(allScenarios).flatMap((group) => group.scenarios);
  const keys = Object.keys(rows).filter((key) => /^[A-Z]-/.test(key));
  expect(keys.length).toBeGreaterThan(10);
  for (const key of keys) {
    const [, id = "", title] = /^(\S+)(?: (.*))?$/.exec(key) ?? [];
    expect(getRequirement(id).of, key).not.toBe("client");
    const about = scenarios.filter(({ ids, needs }) => ids[0] === id && needs === "any");
    expect(about.length, key).toBeGreaterThan(0);
    if (title !== undefined) expect(about.map((each) => each.title)).toContain(title);
  }
});

it("says of all that is wrong what to do about it", () => {
  for (const [id, row] of Object.entries(rows)) {
    if (row.severity === "problem" || row.severity === "warning") expect("fix" in row, id).toBe(true);
  }
});
