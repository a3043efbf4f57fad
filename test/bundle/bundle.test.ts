import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import type { BundleSize } from "./measure-bundle.ts";
import { entries, measureEntries, readSizes } from "./size-table.ts";

describe("bundles for browsers", () => {
  let sizes: Map<string, BundleSize>;
  beforeAll(async () => {
    sizes = await measureEntries();
  }, 60_000);

  it.each(entries.filter((entry) => entry.startsWith("@a2a-connect/")))(
    "%s needs nothing of Node",
    (entry) => {
      expect(sizes.get(entry)?.nodeImports).toEqual([]);
    },
  );

  it("have the sizes that docs/comparison.md says, by 2 %", async () => {
    const said = readSizes(await readFile(new URL("../../docs/comparison.md", import.meta.url), "utf8"));
    expect([...said.keys()]).toEqual([...entries]);
    for (const [entry, { gzipBytes }] of sizes) {
      const claimed = said.get(entry) ?? 0;
      expect(Math.abs(gzipBytes - claimed) / gzipBytes, `${entry}: run pnpm report:bundles`).toBeLessThan(
        0.02,
      );
    }
  });
});
