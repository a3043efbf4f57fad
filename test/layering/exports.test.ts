import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";
import { describe, expect, it } from "vitest";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/**
 * How many names a user of each package meets, types included. What only our own packages need is exported by
 * `/internal`; whoever adds a name here has to raise the number, and to say why in the commit.
 */
const mostNames = {
  "packages/core/src/index.ts": 36,
  "packages/server/src/index.ts": 46,
  "packages/client/src/index.ts": 50,
  "packages/node/src/index.ts": 31,
} as const;

/** Entries of the same packages that are for a named purpose. */
const otherEntries = [
  "packages/bindings/src/index.ts",
  "packages/bindings/src/server.ts",
  "packages/bindings/src/client.ts",
  "packages/core/src/internal.ts",
  "packages/server/src/internal.ts",
  "packages/server/src/host/agent-host.ts",
  "packages/server/src/js-sdk/agent-executor.ts",
  "packages/server/src/mount/fetch-handler.ts",
  "packages/server/src/store/index.ts",
  "packages/client/src/json.ts",
  "packages/client/src/internal.ts",
  "packages/node/src/client/index.ts",
] as const;

/** The names that a module exports, and what it exports as a whole. */
function readExports(path: string): { readonly names: readonly string[]; readonly stars: readonly string[] } {
  const { module, errors } = parseSync(path, readFileSync(join(root, path), "utf8"));
  expect(errors).toEqual([]);
  const entries = module.staticExports.flatMap((each) => each.entries);
  return {
    names: entries.flatMap(({ exportName }) => exportName.name ?? []),
    stars: entries.flatMap(({ exportName, moduleRequest }) =>
      exportName.name === null ? (moduleRequest?.value ?? "") : [],
    ),
  };
}

describe("what packages export", () => {
  it.each(Object.entries(mostNames))("%s has at most %i names", (path, most) => {
    const { names } = readExports(path);
    expect(names.length).toBeGreaterThan(0);
    expect(names.length).toBeLessThanOrEqual(most);
  });

  it.each([...Object.keys(mostNames), ...otherEntries])("%s names each thing", (path) => {
    const { names, stars } = readExports(path);
    expect([names.length > 0, stars]).toEqual([true, []]);
  });

  it("is enough for examples and pages: none imports what is internal", () => {
    const files = globSync(
      ["README.md", "docs/**/*.md", "packages/*/README.md", "examples/*/{README.md,src/**/*.ts}"],
      { cwd: root },
    );
    expect(files.length).toBeGreaterThan(20);
    const internal = files.filter((path) =>
      /"@a2a-connect\/[a-z]+\/internal"/.test(readFileSync(join(root, path), "utf8")),
    );
    expect(internal).toEqual([]);
  });
});
