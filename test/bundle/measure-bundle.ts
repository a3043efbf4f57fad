import { SourceMap, type SourceMapPayload } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Rolldown } from "vite";

/** What a page has to load for an import. */
export interface BundleSize {
  /** Minified, in bytes. */
  readonly bytes: number;
  /** The same through gzip, file by file. */
  readonly gzipBytes: number;
  /** How many files that is. */
  readonly files: number;
  /** Modules of Node that are left in any file: a browser has none. */
  readonly nodeImports: readonly string[];
  /** Each group of modules with its bytes through gzip, largest first: together `gzipBytes`. */
  readonly groups: ReadonlyMap<string, number>;
}

/**
 * Bundles everything that an entry exports for browsers, as Vite does it by default, in memory.
 *
 * @param loads a module that the page imports later, by the end of its path. Others of that kind do not count
 */
export async function measureBundle(entry: string, loads?: string): Promise<BundleSize> {
  const chunks = await bundle(entry);
  const roots = chunks.filter((each) => each.isEntry || (loads !== undefined && isOf(each, loads)));
  if (roots.length !== (loads === undefined ? 1 : 2)) {
    throw new Error(`nothing was bundled for ${entry} or ${loads}`);
  }
  const loaded = closure(chunks, roots);
  const gzipBytes = sum(loaded.map(({ code }) => gzipSync(code).length));
  return {
    bytes: sum(loaded.map(({ code }) => Buffer.byteLength(code))),
    gzipBytes,
    files: loaded.length,
    nodeImports: chunks.flatMap(({ code, imports, dynamicImports }) => [
      ...[...imports, ...dynamicImports].filter((each) => each.startsWith("node:")),
      ...(code.match(/__vite-browser-external[^"'`\s]*/g) ?? []),
    ]),
    groups: groupSizes(loaded, gzipBytes),
  };
}

async function bundle(entry: string): Promise<readonly Rolldown.OutputChunk[]> {
  const result = await build({
    configFile: false,
    logLevel: "silent",
    root: fileURLToPath(new URL(".", import.meta.url)),
    build: {
      write: false,
      modulePreload: false,
      sourcemap: "hidden",
      rolldownOptions: { input: "entry", preserveEntrySignatures: false },
    },
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === "entry" ? new URL("./entry.js", import.meta.url).pathname : undefined),
        load: (id) =>
          id.endsWith("/test/bundle/entry.js")
            ? `import * as all from "${entry}"; globalThis.all = all;`
            : undefined,
      },
    ],
  });
  const outputs = Array.isArray(result) ? result : [result];
  return outputs
    .flatMap((each) => ("output" in each ? each.output : []))
    .filter((file) => file.type === "chunk");
}

function isOf({ facadeModuleId }: Rolldown.OutputChunk, path: string): boolean {
  return facadeModuleId?.endsWith(path) === true;
}

/** The chunks, and all that they import before they run. */
function closure(
  chunks: readonly Rolldown.OutputChunk[],
  roots: readonly Rolldown.OutputChunk[],
): readonly Rolldown.OutputChunk[] {
  const found = new Set(roots);
  for (const { imports } of found) {
    for (const each of chunks.filter(({ fileName }) => imports.includes(fileName))) {
      found.add(each);
    }
  }
  return [...found];
}

/* ---- What a bundle is made of ---- */

/** The groups, by a pattern for the paths of their modules. The first that fits counts. */
const groups: readonly (readonly [name: string, path: RegExp])[] = [
  ["protobuf-es", /@bufbuild\/protobuf\//],
  ["Connect", /@connectrpc\/connect(?:-web)?\//],
  ["A2A's messages and methods", /\/gen\//],
  ["core: JSON of messages, errors, routes", /packages\/core\//],
  ["bindings: both JSON wires, server-sent events", /packages\/bindings\//],
  ["client: card", /packages\/client\/src\/card\//],
  ["client: choice of an interface, transports", /packages\/client\/src\/(?:interface|transports)\//],
  ["client: send and follow", /packages\/client\/src\/(?:follow|send|calls)\//],
  ["client: run and questions", /packages\/client\/src\/run\//],
  ["client: artifacts and inspection", /packages\/client\/src\/content\//],
  ["client: the rest", /packages\/client\//],
];

/** Each group alone is compressed less well than with the others, so their sizes are scaled to what is loaded. */
function groupSizes(chunks: readonly Rolldown.OutputChunk[], gzipBytes: number): ReadonlyMap<string, number> {
  const texts = new Map<string, string>();
  for (const { code, map } of chunks) {
    for (const [source, text] of textsBySource(code, map)) {
      const [name] = groups.find(([, path]) => path.test(source)) ?? ["everything else"];
      texts.set(name, (texts.get(name) ?? "") + text);
    }
  }
  const sizes = [...texts].map(([name, text]) => [name, gzipSync(text).length] as const);
  const total = sum(sizes.map(([, size]) => size));
  return new Map(
    sizes
      .map(([name, size]) => [name, (size / total) * gzipBytes] as const)
      .sort(([, one], [, other]) => other - one),
  );
}

/** The minified code of each module. */
function textsBySource(code: string, map: Rolldown.SourceMap | null): ReadonlyMap<string, string> {
  const sources = new SourceMap({ ...map, file: "" } as SourceMapPayload); // a map has what a payload has
  const texts = new Map<string, string>();
  for (const [number, line] of code.split("\n").entries()) {
    for (const [column, character] of [...line].entries()) {
      const found = sources.findEntry(number, column);
      const source = "originalSource" in found ? found.originalSource : "";
      texts.set(source, (texts.get(source) ?? "") + character);
    }
  }
  return texts;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
