import { type BundleSize, measureBundle } from "./measure-bundle.ts";

/** What is measured: our entries for browsers, and the peer's. */
export const entries = ["@a2a-connect/client", "@a2a-connect/client/inspect", "@a2a-js/sdk/client"] as const;

/** Where docs/comparison.md has the table. */
const begin = "<!-- bundle sizes: written by `pnpm report:bundles` -->";
const end = "<!-- end of bundle sizes -->";

/** The size of each entry. */
export async function measureEntries(): Promise<Map<string, BundleSize>> {
  const sizes = new Map<string, BundleSize>();
  for (const entry of entries) {
    sizes.set(entry, await measureBundle(entry));
  }
  return sizes;
}

/** The table as docs/comparison.md has it. */
export function renderSizes(sizes: ReadonlyMap<string, BundleSize>): string {
  const rows = [...sizes].map(
    ([entry, { bytes, gzipBytes }]) => `| \`${entry}\` | ${kilobytes(bytes)} | ${kilobytes(gzipBytes)} |`,
  );
  return ["| entry, bundled by Vite | minified | gzip |", "| --- | --- | --- |", ...rows].join("\n");
}

/** The page with this table in its place. @throws Error when it has no place for one */
export function replaceSizes(page: string, table: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) {
    throw new Error(`docs/comparison.md has no place for the sizes, between ${begin} and ${end}`);
  }
  return `${before}${begin}\n${table}\n${end}${after}`;
}

/** The gzip column of that table, in bytes. */
export function readSizes(page: string): ReadonlyMap<string, number> {
  const table = page.split(begin)[1]?.split(end)[0] ?? "";
  return new Map(
    [...table.matchAll(/^\| `([^`]+)` \| [\d.]+ kB \| ([\d.]+) kB \|$/gm)].map(
      ([, entry = "", size = ""]) => [entry, Number(size) * 1_000],
    ),
  );
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}
