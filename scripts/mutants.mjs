// Measures what the tests notice: changes one line of the source at a time, and runs the tests that are related to it.
//
//   node scripts/mutants.mjs --out FILE [--count 200] [--seed 1] [--only SOURCE] [--seconds 900] [--list]
//
// It draws from the last commit, in a git worktree of its own in the temporary folder, so that the working tree stays as
// it is. Every mutant becomes a line of JSON in FILE. A mutant that is there already is not run again, so an interrupted
// run goes on where it stopped; after a change of the source, take another FILE. --seconds is how long the tests of one
// mutant run at most, the nearest first; all of them take up to 15 minutes. --list prints the mutants and runs none.
// A mutant that survives is not tested, or means the same as the original: a person has to look.
import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseSync } from "vite";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: options } = parseArgs({
  options: {
    out: { type: "string" },
    count: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
    seconds: { type: "string", default: "900" },
    list: { type: "boolean", default: false },
  },
});
const folders = ["core/src", "server/src/engine", "bindings/src", "signing/src", "client/src"];
/** These start processes or take minutes, and tests nearer to the source hold the same behaviour. */
const excluded = [
  ..."browser,bundle,cli-compliance,cli-docs,consolidation,durable,faults,interop,layering,model,readme"
    .split(",")
    .map((name) => `test/${name}/**`),
  "packages/cli/**",
  "examples/**",
];
/** A mutant whose tests print nothing for so long hangs, and counts as caught. */
const silenceMs = 90_000;
const limitMs = Number(options.seconds) * 1000;

const swaps = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "+": "-",
  "-": "+",
  "&&": "||",
  "||": "&&",
  "??": "||",
};

/** What is put in the place of a node, or of a part of it: `[operator, start, end, replacement]`. */
function* findChanges(node, text) {
  const slice = ({ start, end }) => text.slice(start, end);
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression":
    case "WhileStatement":
      yield ["negate", node.test.start, node.test.end, `!(${slice(node.test)})`];
      break;
    case "BinaryExpression":
    case "LogicalExpression": {
      const { left, right, operator } = node;
      if (!(operator in swaps) || [left, right].some(isText)) break;
      const start = text.indexOf(operator, left.end);
      if (start < right.start)
        yield [`${operator} to ${swaps[operator]}`, start, start + operator.length, swaps[operator]];
      break;
    }
    case "ExpressionStatement":
      if (isCall(node.expression)) yield ["drop call", node.start, node.end, ";"];
      break;
    case "AwaitExpression":
      yield ["drop await", node.start, node.argument.start, ""];
      break;
    case "ReturnStatement":
      if (node.argument !== null) yield ["return undefined", node.start, node.end, "return undefined;"];
      break;
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      if (node.body?.type === "BlockStatement" && node.body.body.length > 0)
        yield ["return early", node.body.start, node.body.start + 1, "{ return;"];
      break;
    case "Literal":
      if (typeof node.value === "number") yield ["n to n + 1", node.start, node.end, `${node.value + 1}`];
      if (typeof node.value === "boolean") yield ["flip", node.start, node.end, `${!node.value}`];
      break;
    case "ArrayExpression":
      for (const [index, element] of node.elements.entries()) {
        const next = node.elements[index + 1];
        if (element !== null && node.elements.length > 1)
          yield ["drop element", element.start, next?.start ?? element.end, ""];
      }
      break;
    case "ContinueStatement":
      yield ["continue to break", node.start, node.start + "continue".length, "break"];
      break;
  }
}

/** Whether it is joined to others as text: `-` in the place of `+` would only test the type. */
function isText(node) {
  return node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node.value === "string");
}

function isCall({ type, argument }) {
  return type === "CallExpression" || (type === "AwaitExpression" && argument.type === "CallExpression");
}

/** Nodes that are types only. Those that wrap a value, such as `as`, are looked into. */
function isType(node) {
  const wrappers = ["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSParameterProperty"];
  return node.type.startsWith("TS") && !wrappers.includes(node.type);
}

function* visit(node) {
  if (typeof node !== "object" || node === null) return;
  if (typeof node.type === "string") {
    if (isType(node) || node.type === "ImportDeclaration" || node.type.startsWith("ExportAll")) return;
    yield node;
  }
  for (const child of Object.values(node)) yield* visit(child);
}

/** Every one-line mutant of a source. */
function findMutants(tree, path) {
  const text = readFileSync(join(tree, path), "utf8");
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  return [...visit(program)].flatMap((node) =>
    [...findChanges(node, text)].flatMap(([operator, start, end, replacement]) => {
      if (text.slice(start, end).includes("\n")) return [];
      const mutated = text.slice(0, start) + replacement + text.slice(end);
      const line = text.slice(0, start).split("\n").length;
      const [before, after] = [text, mutated].map((each) => each.split("\n")[line - 1].trim());
      return [{ path, line, operator, before, after, mutated }];
    }),
  );
}

/** Whether it is another program, and one that can be read. */
function isValid({ before, after, mutated }) {
  if (before === after) return false;
  try {
    stripTypeScriptTypes(mutated);
    return true;
  } catch {
    return false;
  }
}

/** Numbers from 0 to 1 that depend on the seed only (mulberry32). */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws mutants, at most one of a line. The first ones are the same for any count. */
function draw(candidates, count, random) {
  const left = [...candidates];
  const drawn = new Map();
  while (left.length > 0 && drawn.size < count) {
    const [mutant] = left.splice(Math.floor(random() * left.length), 1);
    const place = `${mutant.path}:${mutant.line}`;
    if (!drawn.has(place) && isValid(mutant)) drawn.set(place, mutant);
  }
  return [...drawn.values()];
}

function say(line) {
  process.stderr.write(`${line}\n`);
}

function run(command, args, cwd) {
  return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** Vitest's configuration for the mutants of one file: its own, but the nearest tests come first. */
function nearestFirst(path) {
  const room = path.split("/")[1];
  return `import { BaseSequencer } from "vitest/node";
import config from "./vitest.config.ts";

const near = [/packages\\/${room}\\//, /test\\/${room}\\//, /packages\\//, /test\\/conformance\\//, /./];
const rank = ({ moduleId }) => near.findIndex((pattern) => pattern.test(moduleId));

class NearestFirst extends BaseSequencer {
  async sort(files) {
    return files.toSorted((one, other) => rank(one) - rank(other) || (one.moduleId < other.moduleId ? -1 : 1));
  }
}

export default { ...config, test: { ...config.test, sequence: { sequencer: NearestFirst } } };
`;
}

/** Ends the tests that run now. */
let endTests = () => {};

/** Runs Vitest on one worker to the first failure. @returns what failed, or undefined */
function runTests(tree, args) {
  const shared = [
    "--run",
    "--bail=1",
    "--maxWorkers=1",
    "--testTimeout=30000",
    "--reporter=default",
    "--no-color",
  ];
  const child = spawn(join(tree, "node_modules/.bin/vitest"), [...args, ...shared, "--passWithNoTests"], {
    cwd: tree,
    env: { ...process.env, PATH: `${join(tree, "node_modules/.bin")}:${process.env.PATH}` },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a group of its own, so that what hangs can be ended with all its workers
  });
  return new Promise((done, reject) => {
    let output = "";
    let hangs = false;
    endTests = () => process.kill(-child.pid, "SIGKILL");
    let isOver = false;
    const end = () => {
      hangs = true;
      endTests();
    };
    const limit = setTimeout(() => {
      isOver = true;
      endTests();
    }, limitMs);
    let silence = setTimeout(end, silenceMs);
    const hear = (chunk) => {
      output += chunk;
      clearTimeout(silence);
      silence = setTimeout(end, silenceMs);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(limit);
      clearTimeout(silence);
      endTests = () => {};
      const failure = /^ ?FAIL +(.*)$/m.exec(output)?.[1] ?? output.trim().split("\n").at(-1);
      if (hangs) done("it hangs");
      else done(code === 0 || isOver ? undefined : failure);
    });
  });
}

/** Whether the tests catch a mutant: first those beside the source, then the others that load it. */
async function judge(tree, { path, mutated }) {
  const file = join(tree, path);
  const original = readFileSync(file, "utf8");
  const beside = globSync(`${dirname(path)}/*.test.ts`, { cwd: tree }).sort();
  const exclude = [...excluded, ...beside].map((each) => `--exclude=${each}`);
  const config = "vitest.nearest.config.ts";
  writeFileSync(file, mutated);
  writeFileSync(join(tree, config), nearestFirst(path));
  try {
    const caught = beside.length === 0 ? undefined : await runTests(tree, ["run", ...beside]);
    return caught ?? (await runTests(tree, ["related", path, `--config=${config}`, ...exclude]));
  } finally {
    writeFileSync(file, original);
  }
}

function name({ path, line, after }) {
  return `${path}:${line} ${after}`;
}

function print({ path, line, operator, before, after, caughtBy }) {
  console.log(`${caughtBy === undefined ? "SURVIVED" : "caught"} ${path}:${line} (${operator})`);
  console.log(`  - ${before}\n  + ${after}`);
  if (caughtBy !== undefined) console.log(`  by ${caughtBy}`);
}

function readResults(file) {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

async function runAll(tree, mutants, file) {
  const known = new Map(readResults(file).map((result) => [name(result), result]));
  let survived = 0;
  for (const [index, mutant] of mutants.entries()) {
    const { mutated: _, ...shown } = mutant;
    let result = known.get(name(mutant));
    if (result === undefined) {
      say(`${index + 1} of ${mutants.length}: ${mutant.path}:${mutant.line} (${mutant.operator}) …`);
      const began = performance.now();
      const caughtBy = await judge(tree, mutant);
      result = { ...shown, caughtBy, seconds: Math.round((performance.now() - began) / 1000) };
      appendFileSync(file, `${JSON.stringify(result)}\n`);
      say(`  ${caughtBy === undefined ? "survived" : "caught"} after ${result.seconds} s`);
    }
    if (result.caughtBy === undefined) survived += 1;
    print(result);
  }
  console.log(`${mutants.length - survived} caught, ${survived} survived`);
}

function clean() {
  run("git", ["worktree", "remove", "--force", tree], root);
  rmSync(tree, { recursive: true, force: true });
}

if (!options.list && options.out === undefined) throw new Error("--out FILE says where the results are kept");
const tree = mkdtempSync(join(tmpdir(), "a2a-mutants-"));
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    endTests();
    clean();
    process.exit(1);
  });
}
try {
  run("git", ["worktree", "add", "--detach", "--quiet", tree, "HEAD"], root);
  const sources = globSync(
    folders.map((folder) => `packages/${folder}/**/*.ts`),
    { cwd: tree },
  )
    .filter((path) => !path.endsWith(".test.ts") && (options.only === undefined || path === options.only))
    .sort();
  const candidates = sources.flatMap((path) => findMutants(tree, path));
  const mutants = draw(candidates, Number(options.count), createRandom(Number(options.seed)));
  say(`${mutants.length} of ${candidates.length} mutants, drawn with the seed ${options.seed}`);
  if (options.list) {
    for (const { path, line, operator, before, after } of mutants)
      console.log(`${path}:${line} (${operator})\n  - ${before}\n  + ${after}`);
  } else {
    run(process.execPath, ["scripts/run.mjs"], tree); // installs the dependencies: links to the sources of this tree
    await runAll(tree, mutants, resolve(options.out));
  }
} finally {
  clean();
}
