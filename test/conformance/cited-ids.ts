import { globSync, readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);

/** Ids of requirements A to N and R that stand anywhere in our sources and pages, and the files they are in. */
export function findCitedIds(): ReadonlyMap<string, readonly string[]> {
  const cited = new Map<string, string[]>();
  const files = globSync(
    ["packages/*/src/**/*.ts", "examples/*/src/**/*.ts", "test/**/*.ts", "docs/**/*.md", "proto/**/*.proto"],
    { cwd: root, exclude: (name) => name.includes("node_modules") },
  );
  for (const file of files) {
    for (const [id] of readFileSync(new URL(file, root), "utf8").matchAll(/\b[A-NR]-[1-9]\d?\b/g)) {
      cited.set(id, [...(cited.get(id) ?? []), file]);
    }
  }
  return cited;
}
