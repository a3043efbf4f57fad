// Measures how much source there is to read, in how many files, behind how many names; beside it, what is wanted.
//
//   node scripts/report-house.mjs [--list] [--check] [--root DIR]
//
// --list also names the short files and the import cycles. --check only looks for import cycles, and fails if there is
// one. --root measures another checkout. Sources are the files of packages/*/src without tests; blank lines and comments
// count as lines; an `import type` counts as an import.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseSync } from "vite";

const { values: options } = parseArgs({
  options: {
    list: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    root: { type: "string", default: dirname(dirname(fileURLToPath(import.meta.url))) },
  },
});
const root = resolve(options.root);
/** A file with fewer lines is short. An `index.ts` is not counted: it only lists exports, and should be short. */
const shortLines = 25;

/** The page of the conformance report, which is not code of checks. */
const template = new Set(
  ["html", "page-style", "markup"].map((name) => `packages/conformance/src/report/${name}.ts`),
);

/** The aims: what each measure should be at most. Other measures have no aim. */
const wanted = {
  lines: 55_800,
  "lines: cli": 12_000,
  "lines: signing": 4_000,
  "lines: server/src/card": 900,
  "lines: conformance, doctor, smoke": 10_722,
  [`files under ${shortLines} lines`]: 20,
  "exports of core": 40,
  "exports of server": 50,
  "exports of client": 50,
  "exports of signing": 25,
  "import cycles": 0,
  "lines of tests": 52_100,
};

function findFiles(...patterns) {
  return globSync(patterns, {
    cwd: root,
    exclude: (path) => path.split("/").includes("node_modules"),
  }).sort();
}

function isTest(path) {
  return path.endsWith(".test.ts");
}

function read(path) {
  return readFileSync(join(root, path), "utf8");
}

function countLines(path) {
  return read(path).split("\n").length - 1;
}

function sumLines(paths) {
  return paths.reduce((sum, path) => sum + countLines(path), 0);
}

/** The imports and exports of a module, those of types included. */
function readModule(path) {
  const { module, errors } = parseSync(path, read(path));
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  return module;
}

/** The files of its package that a module imports, or exports something of, when it loads. */
function findImports(path, { staticImports, staticExports }) {
  const exported = staticExports.flatMap(({ entries }) => entries).map(({ moduleRequest }) => moduleRequest);
  const imported = staticImports.map(({ moduleRequest }) => moduleRequest);
  return resolveRelative(
    path,
    [...imported, ...exported].map((each) => each?.value),
  );
}

/** The files of its package that a module loads later, with `import()`. These make no cycle. */
function findLazyImports(path, { dynamicImports }) {
  const text = read(path);
  const expressions = dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start, end));
  return resolveRelative(
    path,
    expressions.map((each) => /^"(.*)"$/.exec(each)?.[1]),
  );
}

function resolveRelative(path, specifiers) {
  const relatives = specifiers.filter((specifier) => specifier?.startsWith("."));
  return new Set(relatives.map((specifier) => join(dirname(path), specifier)));
}

/**
 * Groups of files in which every file imports every other one, directly or through others (Tarjan's strongly connected
 * components). Two cycles that share a file are one group.
 */
function findCycles(imports) {
  const order = new Map();
  const lowest = new Map();
  const open = [];
  const cycles = [];
  const visit = (path) => {
    order.set(path, order.size);
    lowest.set(path, order.get(path));
    open.push(path);
    for (const next of imports.get(path) ?? []) {
      if (!order.has(next)) visit(next);
      if (open.includes(next)) lowest.set(path, Math.min(lowest.get(path), lowest.get(next)));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const cycle = open.splice(open.indexOf(path));
    if (cycle.length > 1) cycles.push(cycle.sort());
  };
  for (const path of imports.keys()) if (!order.has(path)) visit(path);
  return cycles.sort((one, other) => (one[0] < other[0] ? -1 : 1));
}

/** The names that a module exports, those behind `export *` included. */
function findExports(path, modules) {
  const module = modules.get(path);
  if (module === undefined) throw new Error(`${path} is exported, and is no source`);
  const names = module.staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ exportName, moduleRequest }) => {
      if (exportName.name !== null) return [exportName.name];
      const specifier = moduleRequest.value;
      if (!specifier.startsWith(".")) throw new Error(`${path}: export * of the package ${specifier}`);
      return [...findExports(join(dirname(path), specifier), modules)];
    });
  return new Set(names);
}

function findMainEntry(name) {
  const { exports } = JSON.parse(read(`packages/${name}/package.json`));
  return join("packages", name, exports["."].default);
}

function format(count) {
  return count.toLocaleString("en-US");
}

const sources = findFiles("packages/*/src/**/*.ts").filter((path) => !isTest(path));
const modules = new Map(sources.map((path) => [path, readModule(path)]));
const imports = new Map([...modules].map(([path, module]) => [path, findImports(path, module)]));
const cycles = findCycles(imports);

function listCycles() {
  for (const cycle of cycles) {
    console.log(`\na cycle of ${cycle.length} files:`);
    for (const path of cycle) {
      const others = cycle.filter((other) => imports.get(path).has(other));
      console.log(`  ${path} imports ${others.map((other) => relative(dirname(path), other)).join(", ")}`);
    }
  }
}

function measure() {
  const rooms = [...new Set(sources.map((path) => path.split("/")[1]))];
  const inFolder = (folder) => sources.filter((path) => path.startsWith(`packages/${folder}/`));
  // Three commands that look at a server: what they know of it should be in one place.
  const kit = ["conformance/src", "cli/src/doctor", "cli/src/smoke"].flatMap(inFolder);
  const short = sources.filter((path) => !path.endsWith("/index.ts") && countLines(path) < shortLines);
  const tests = findFiles("packages/**/*.test.ts", "test/**/*.test.ts", "examples/**/*.test.ts");
  const support = findFiles("packages/*/test-support/**/*.ts", "test/**/*.ts").filter(
    (path) => !isTest(path),
  );
  const rows = [
    ["files", sources.length],
    ["lines", sumLines(sources)],
    ...rooms.map((room) => [`lines: ${room}`, sumLines(inFolder(`${room}/src`))]),
    ["lines: server/src/card", sumLines(inFolder("server/src/card"))],
    ["lines: conformance, doctor, smoke", sumLines(kit.filter((path) => !template.has(path)))],
    [`files under ${shortLines} lines`, short.length],
    ...["core", "server", "client", "signing"].map((room) => [
      `exports of ${room}`,
      findExports(findMainEntry(room), modules).size,
    ]),
    ["import cycles", cycles.length],
    ["lines of tests", sumLines(tests)],
    ["lines that support tests", sumLines(support)],
  ];
  return { rows, short };
}

function listShort(short) {
  console.log(`\nfiles under ${shortLines} lines, and who imports them:`);
  for (const path of short) {
    const importers = sources.filter(
      (source) => imports.get(source).has(path) || findLazyImports(source, modules.get(source)).has(path),
    );
    const who = importers.length === 1 ? `only ${importers[0]}` : `${importers.length || "no"} files`;
    console.log(`  ${path} (${countLines(path)}): ${who}`);
  }
}

if (options.check) {
  listCycles();
  if (cycles.length > 0)
    console.error(
      `\nImport cycles: ${cycles.length} (an \`import type\` counts). Move what is shared to where both may import it.`,
    );
  process.exitCode = cycles.length === 0 ? 0 : 1;
} else {
  const { rows, short } = measure();
  console.log(`${"measure".padEnd(34)} ${"here".padStart(8)} ${"wanted".padStart(8)}`);
  for (const [name, count] of rows) {
    const aim = wanted[name] === undefined ? "–" : format(wanted[name]);
    console.log(`${name.padEnd(34)} ${format(count).padStart(8)} ${aim.padStart(8)}`);
  }
  if (options.list) {
    listShort(short);
    listCycles();
  }
}
