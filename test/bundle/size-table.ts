import { type BundleSize, measureBundle } from "./measure-bundle.ts";

/** What is measured: our entries for browsers, with what a page loads later for a wire, and the peer's. */
export const bundles = [
  { name: "`@a2a-connect/client`", entry: "@a2a-connect/client" },
  {
    name: "`@a2a-connect/client`, calling over Connect or gRPC-Web",
    entry: "@a2a-connect/client",
    loads: "/transports/rpc-transports.ts",
  },
  { name: "`@a2a-connect/client/json`", entry: "@a2a-connect/client/json" },
  {
    name: "`@a2a-connect/client/json`, calling agents of A2A 0.3 or 0.2",
    entry: "@a2a-connect/client/json",
    loads: "/client/src/on-demand.ts",
  },
  { name: "`@a2a-js/sdk/client`", entry: "@a2a-js/sdk/client" },
] as const satisfies readonly { name: string; entry: string; loads?: string }[];

/** The bundle whose parts are listed. */
const described = "`@a2a-connect/client/json`";

/** Where docs/comparison.md has the tables. */
const begin = "<!-- bundle sizes: written by `pnpm report:bundles` -->";
const end = "<!-- end of bundle sizes -->";

/** The size of each bundle, by its name. */
export async function measureBundles(): Promise<ReadonlyMap<string, BundleSize>> {
  const sizes = new Map<string, BundleSize>();
  for (const { name, entry, ...later } of bundles) {
    sizes.set(name, await measureBundle(entry, "loads" in later ? later.loads : undefined));
  }
  return sizes;
}

/** The tables as docs/comparison.md has them. */
export function renderSizes(sizes: ReadonlyMap<string, BundleSize>): string {
  const rows = [...sizes].map(
    ([name, { bytes, gzipBytes, files }]) =>
      `| ${name} | ${files} | ${kilobytes(bytes)} | ${kilobytes(gzipBytes)} |`,
  );
  const parts = [...(sizes.get(described)?.groups ?? [])].map(
    ([name, size]) => `| ${name} | ${kilobytes(size)} |`,
  );
  return [
    "| what a page loads, bundled by Vite | files | minified | gzip |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
    `What ${described} is made of:`,
    "",
    "| part | gzip |",
    "| --- | --- |",
    ...parts,
  ].join("\n");
}

/** The page with these tables in their place. @throws Error when it has no place for them */
export function replaceSizes(page: string, tables: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) {
    throw new Error(`docs/comparison.md has no place for the sizes, between ${begin} and ${end}`);
  }
  return `${before}${begin}\n${tables}\n${end}${after}`;
}

/** The gzip column of the first table, in bytes. */
export function readSizes(page: string): ReadonlyMap<string, number> {
  const tables = page.split(begin)[1]?.split(end)[0] ?? "";
  return new Map(
    [...tables.matchAll(/^\| (.+) \| \d+ \| [\d.]+ kB \| ([\d.]+) kB \|$/gm)].map(
      ([, name = "", size = ""]) => [name, Number(size) * 1_000],
    ),
  );
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}
