// Proves that what we would publish works: builds and packs every public package (scripts/packages.mjs), lints the tarball
// (publint, attw), checks its exports map, what npm shows of it, and that the runtime-neutral packages stay neutral, then
// installs all tarballs with npm in an empty directory, imports every entry, runs every command, and lets the conformance
// kit examine the demo agent. Each step prints its count; none may be 0.
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
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { findPackages, packAll, readJson, root } from "./packages.mjs";

const runFile = promisify(execFile);
const failures = [];

function fail(name, problem) {
  failures.push(`${name}: ${problem}`);
}

function report(what, count) {
  if (count === 0) failures.push(`${what}: nothing was checked`);
  console.log(`  ${what}: ${count}`);
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

/** Every file that the packed exports map names is there, no workspace range is left, and npm can show where it comes from. */
async function checkExports({ name }, installed) {
  const manifest = readJson(join(installed, "package.json"));
  for (const field of ["author", "repository", "homepage", "bugs", "keywords"]) {
    if (manifest[field] === undefined) fail(name, `the packed manifest lacks "${field}" (.pnpmfile.mjs)`);
  }
  for (const file of ["README.md", "LICENSE"]) {
    if (!existsSync(join(installed, file))) fail(name, `${file} is not packed`);
  }
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

/**
 * Most of what a browser loads for the inspector, through gzip: for the first screen, with all of its views, and for those who ask the
 * page to examine the agent: the conformance kit and its tab.
 */
const maxFirstBytes = 100_000;
const maxPageBytes = 150_000;
const maxKitBytes = 175_000;

/** The installed inspector is at the agent's address; returns the bytes of all that its page loads, through gzip. */
async function checkInspector(url) {
  const load = async (path) => (await fetch(url + path, { headers: { accept: "text/html" } })).text();
  const html = await load("/");
  const files = new Set([...html.matchAll(/(?:src|href)="inspector\/([^"]+)"/g)].map(([, file]) => file));
  if (files.size !== 2) fail("@a2a-connect/inspector", "the demo agent does not serve its page");
  const first = new Set(files);
  let bytes = 0;
  let firstBytes = 0;
  let kitBytes = 0;
  for (const file of files) {
    const text = await load(`/inspector/${file}`);
    const { length } = gzipSync(text);
    if (/^(?:kit|conformance-view)-/.test(file)) kitBytes += length;
    else bytes += length;
    if (first.has(file)) {
      firstBytes += length;
      for (const [, name] of text.matchAll(/(?:from|import)\s*["'`]\.\/([\w-]+\.js)["'`]/g)) first.add(name);
    }
    // A set's loop goes on with what is added: the views, which are loaded when they are opened.
    for (const [, name] of text.matchAll(/["'`]\.\/([\w-]+\.js)["'`]/g)) files.add(name);
  }
  if (firstBytes > maxFirstBytes || bytes > maxPageBytes || kitBytes > maxKitBytes) {
    fail(
      "@a2a-connect/inspector",
      `its page loads ${firstBytes} bytes, ${bytes} with all views, and ${kitBytes} of the kit, through gzip`,
    );
  }
  report("bytes of the inspector's first screen, gzip", firstBytes);
  report("bytes of the inspector, gzip", bytes);
  report("bytes of the kit in the inspector, gzip", kitBytes);
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
    await checkInspector(url);
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
  for (const { name, problems } of packages) for (const problem of problems) fail(name, problem);
  const tarballs = await packAll(packages, join(root, "tarballs")); // they stay, for check-installs.mjs
  report("tarballs linted", await sum(packages, (each) => lintTarball(each, tarballs.get(each.name))));
  await installTarballs(tarballs, work);
  const installed = ({ name }) => join(work, "node_modules", name);
  report("exported files", await sum(packages, (each) => checkExports(each, installed(each))));
  const neutralPackages = packages.filter(({ isNeutral }) => isNeutral);
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
