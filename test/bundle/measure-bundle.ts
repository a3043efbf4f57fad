import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";

/** What a page has to load for an import. */
export interface BundleSize {
  /** Minified, in bytes. */
  readonly bytes: number;
  /** The same through gzip. */
  readonly gzipBytes: number;
  /** Modules of Node that are left in it: a browser has none. */
  readonly nodeImports: readonly string[];
}

/** Bundles everything that an entry exports for browsers, as Vite does it by default, in memory. */
export async function measureBundle(entry: string): Promise<BundleSize> {
  const result = await build({
    configFile: false,
    logLevel: "silent",
    root: fileURLToPath(new URL(".", import.meta.url)),
    build: {
      write: false,
      modulePreload: false,
      rolldownOptions: { input: "entry", preserveEntrySignatures: "strict" },
    },
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === "entry" ? new URL("./entry.js", import.meta.url).pathname : undefined),
        load: (id) => (id.endsWith("/test/bundle/entry.js") ? `export * from "${entry}";` : undefined),
      },
    ],
  });
  const outputs = Array.isArray(result) ? result : [result];
  const chunks = outputs
    .flatMap((each) => ("output" in each ? each.output : []))
    .filter((file) => file.type === "chunk");
  if (chunks.length === 0) {
    throw new Error(`nothing was bundled for ${entry}`);
  }
  return {
    bytes: sum(chunks.map(({ code }) => Buffer.byteLength(code))),
    gzipBytes: sum(chunks.map(({ code }) => gzipSync(code).length)),
    nodeImports: chunks.flatMap(({ code, imports, dynamicImports }) => [
      ...[...imports, ...dynamicImports].filter((each) => each.startsWith("node:")),
      ...(code.match(/__vite-browser-external[^"'`\s]*/g) ?? []),
    ]),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
