import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import type { BundleSize } from "./measure-bundle.ts";
import { bundles, measureBundles, readSizes } from "./size-table.ts";

describe("bundles for browsers", () => {
  let sizes: ReadonlyMap<string, BundleSize>;
  beforeAll(async () => {
    sizes = await measureBundles();
  }, 60_000);

  it.each(bundles.filter(({ entry }) => entry.startsWith("@a2a-connect/")))(
    "$name needs nothing of Node",
    ({ name }) => {
      expect(sizes.get(name)?.nodeImports).toEqual([]);
    },
  );

  it("are a few files, and one more for Connect and gRPC-Web, or for what only some pages need", () => {
    expect([...sizes.values()].map(({ files }) => files)).toEqual([2, 3, 2, 3, 1]);
  });

  it("have the sizes that docs/comparison.md says, by 2 %", async () => {
    const said = readSizes(await readFile(new URL("../../docs/comparison.md", import.meta.url), "utf8"));
    expect([...said.keys()]).toEqual(bundles.map(({ name }) => name));
    for (const [name, { gzipBytes }] of sizes) {
      const claimed = said.get(name) ?? 0;
      expect(Math.abs(gzipBytes - claimed) / gzipBytes, `${name}: run pnpm report:bundles`).toBeLessThan(
        0.02,
      );
    }
  });
});
