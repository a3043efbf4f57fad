// Proves that what we would publish works: builds every public package with tsdown, packs it as pnpm would publish it,
// lints the tarball (publint, attw), checks its exports map and that the runtime-neutral packages stay neutral, then
// installs all tarballs with npm in an empty directory, imports every entry, runs every command, and lets the conformance kit examine
// the demo agent. Each step prints its count; none may be 0.
import { execFile, spawn } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { build } from "tsdown";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const runFile = promisify(execFile);
const rootManifest = readJson(join(root, "package.json"));
/** These run wherever there are web standards (design: Node, Bun, Deno, workers, browsers). */
const neutral = new Set(
  ["proto", "core", "bindings", "signing", "auth", "server", "client"].map((name) => `@a2a-connect/${name}`),
);
const failures = [];

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

function fail(name, problem) {
  failures.push(`${name}: ${problem}`);
}

function report(what, count) {
  if (count === 0) failures.push(`${what}: nothing was checked`);
  console.log(`  ${what}: ${count}`);
}

/** The public packages, each with its source file per entry of the exports map. */
function findPackages() {
  const rooms = readdirSync(join(root, "packages")).map((name) => join(root, "packages", name));
  return [join(root, "gen"), ...rooms]
    .filter((directory) => existsSync(join(directory, "package.json")))
    .map((directory) => ({ directory, manifest: readJson(join(directory, "package.json")) }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ directory, manifest }) => ({
      directory,
      manifest,
      name: manifest.name,
      entries: findEntries(manifest),
    }));
}

/** `{ "lf/a2a/v1/a2a_pb": "./src/lf/a2a/v1/a2a_pb.ts" }`: what to build, by the name that publishConfig promises. */
function findEntries(manifest) {
  const published = manifest.publishConfig?.exports ?? {};
  const entries = {};
  for (const [subpath, target] of Object.entries(manifest.exports)) {
    const output = published[subpath]?.default;
    if (output === undefined) fail(manifest.name, `publishConfig.exports lacks "${subpath}"`);
    else
      entries[output.replace(/^\.\/dist\/|\.js$/g, "")] =
        typeof target === "string" ? target : target.default;
    const forPages = published[subpath]?.browser;
    if (forPages !== undefined) entries[forPages.replace(/^\.\/dist\/|\.js$/g, "")] = target.browser;
  }
  for (const subpath of Object.keys(published)) {
    if (!(subpath in manifest.exports))
      fail(manifest.name, `publishConfig.exports has "${subpath}", exports has not`);
  }
  for (const [command, source] of Object.entries(manifest.bin ?? {})) {
    const output = manifest.publishConfig?.bin?.[command];
    if (output === undefined) fail(manifest.name, `publishConfig.bin lacks "${command}"`);
    else entries[output.replace(/^\.\/dist\/|\.js$/g, "")] = source;
  }
  return entries;
}

async function buildPackage({ directory, name, entries }) {
  await build({
    cwd: directory,
    entry: entries,
    format: "esm",
    target: "es2024",
    platform: neutral.has(name) ? "neutral" : "node",
    fixedExtension: false, // .js, as the exports map says: the packages are ESM
    dts: true,
    tsconfig: join(directory, "tsconfig.json"),
    clean: true,
    config: false,
    logLevel: "warn",
  });
  const buildPage = join(directory, "build/build-page.ts");
  if (existsSync(buildPage)) await runFile(process.execPath, [buildPage, join(directory, "dist/page")]);
  return Object.keys(entries).length;
}

/** One pnpm for all packages; returns the tarball of each, by package name. */
async function pack(packages, destination) {
  const filters = packages.flatMap(({ name }) => ["--filter", name]);
  const args = [
    "--yes",
    `pnpm@${rootManifest.config.pnpm}`,
    ...filters,
    "pack",
    "--pack-destination",
    destination,
  ];
  await runFile("npx", args, { cwd: root });
  return new Map(
    packages.map(({ name, manifest }) => [
      name,
      join(destination, `${name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`),
    ]),
  );
}

async function lintTarball({ name }, tarball) {
  const bytes = Uint8Array.from(readFileSync(tarball)).buffer; // publint wants an ArrayBuffer of just these bytes
  const { messages, pkg } = await publint({ pack: { tarball: bytes }, strict: true });
  for (const message of messages) {
    if (message.type !== "suggestion")
      fail(name, `publint: ${formatMessage(message, pkg, { color: false })}`);
  }
  try {
    await runFile(join(root, "node_modules/.bin/attw"), [
      tarball,
      "--profile",
      "esm-only",
      "--no-color",
      "--format",
      "ascii",
    ]);
  } catch (error) {
    fail(name, `attw:\n${error.stdout}${error.stderr}`);
  }
  return 1;
}

/** Every file that the packed exports map names is there, and no workspace range is left. */
async function checkExports({ name }, installed) {
  const manifest = readJson(join(installed, "package.json"));
  let count = 0;
  for (const [subpath, conditions] of Object.entries(manifest.exports)) {
    for (const [condition, file] of Object.entries(conditions)) {
      count += 1;
      if (!existsSync(join(installed, file)))
        fail(name, `exports["${subpath}"].${condition} names ${file}, which is not packed`);
      if (!file.startsWith("./dist/"))
        fail(name, `exports["${subpath}"].${condition} names ${file}, which is not built`);
    }
  }
  if (JSON.stringify(manifest.dependencies ?? {}).includes("workspace:"))
    fail(name, "a workspace: range was packed");
  return count;
}

/** A neutral package imports nothing of Node's and mentions none of its globals' types by import. */
function checkNeutral({ name }, installed) {
  const files = listFiles(join(installed, "dist")).filter((file) => file.endsWith(".js"));
  for (const file of files) {
    const found = /(?:from\s*|import\s*\(?\s*|require\s*\()["']node:[^"']+["']/.exec(
      readFileSync(file, "utf8"),
    );
    if (found !== null) fail(name, `${relative(installed, file)} is not runtime-neutral: ${found[0]}`);
  }
  return files.length;
}

function listFiles(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

async function installTarballs(tarballs, directory) {
  const dependencies = Object.fromEntries([...tarballs].map(([name, tarball]) => [name, `file:${tarball}`]));
  const manifest = { name: "consumer", private: true, type: "module", dependencies };
  writeFileSync(join(directory, "package.json"), JSON.stringify(manifest));
  await runFile("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: directory });
}

/** Import every entry as a consumer would, in a process of its own. */
async function importEntries({ name, manifest }, directory) {
  const specifiers = Object.keys(manifest.exports).map((subpath) => name + subpath.slice(1));
  const program = specifiers.map((specifier) => `await import(${JSON.stringify(specifier)});`).join("\n");
  try {
    await runFile(process.execPath, ["--input-type=module", "--eval", program], { cwd: directory });
  } catch (error) {
    fail(name, `does not import:\n${error.stderr}`);
  }
  return specifiers.length;
}

/** Run every command as a consumer would: from where npm links it. */
async function runCommands({ name, manifest }, directory) {
  const commands = Object.keys(manifest.bin ?? {});
  for (const command of commands) {
    try {
      const linked = join(directory, "node_modules/.bin", command);
      const { stdout } = await runFile(process.execPath, [realpathSync(linked), "--version"], {
        cwd: directory,
      });
      if (stdout.trim() !== manifest.version)
        fail(name, `${command} --version says ${stdout.trim()}, the package is ${manifest.version}`);
    } catch (error) {
      fail(name, `${command} does not run:\n${error.stderr ?? error}`);
    }
  }
  return commands.length;
}

/** The installed conformance kit examines an agent that the installed command serves; returns how much has passed. */
async function examineDemo(directory) {
  const a2a = realpathSync(join(directory, "node_modules/.bin/a2a"));
  const demo = spawn(process.execPath, [a2a, "demo-server", "--port", "0"], {
    cwd: directory,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const url = await new Promise((resolve, reject) => {
      let printed = "";
      demo.stdout.setEncoding("utf8").on("data", (chunk) => {
        printed += chunk;
        const served = /^Agent Card: (http:\/\/localhost:\d+)\//m.exec(printed);
        if (served !== null) resolve(served[1]);
      });
      demo.on("exit", () => reject(new Error(`the demo agent has ended: ${printed}`)));
    });
    const { stdout } = await runFile(
      process.execPath,
      [a2a, "conformance", url, "--output", "json", "--run-timeout", "5m"],
      { cwd: directory, maxBuffer: 64 * 1024 * 1024 },
    );
    const { verdict, tallies } = JSON.parse(stdout);
    if (verdict !== "passed") fail("@a2a-connect/conformance", `the demo agent has not passed: ${verdict}`);
    return tallies.must.passed;
  } catch (error) {
    fail(
      "@a2a-connect/conformance",
      `does not run where it is installed:\n${error.stderr || error.stdout || error}`,
    );
    return 0;
  } finally {
    demo.kill();
  }
}

async function sum(packages, check) {
  let total = 0;
  for (const each of packages) total += await check(each);
  return total;
}

const packages = findPackages();
const work = mkdtempSync(join(tmpdir(), "a2a-connect-packaging-"));
try {
  report("public packages", packages.length);
  report("entries built", await sum(packages, buildPackage));
  const tarballs = await pack(packages, work);
  report("tarballs linted", await sum(packages, (each) => lintTarball(each, tarballs.get(each.name))));
  await installTarballs(tarballs, work);
  const installed = ({ name }) => join(work, "node_modules", name);
  report("exported files", await sum(packages, (each) => checkExports(each, installed(each))));
  const neutralPackages = packages.filter(({ name }) => neutral.has(name));
  report("neutral modules", await sum(neutralPackages, (each) => checkNeutral(each, installed(each))));
  report("entries imported", await sum(packages, (each) => importEntries(each, work)));
  report("commands run", await sum(packages, (each) => runCommands(each, work)));
  report("conformance checks passed", await examineDemo(work));
} finally {
  rmSync(work, { recursive: true, force: true });
}
for (const failure of failures) console.error(`  ✗ ${failure}`);
console.log(failures.length === 0 ? "packaging: all good" : `packaging: ${failures.length} problems`);
process.exitCode = failures.length === 0 ? 0 : 1;
