// Proves that what we would publish can be installed as users install it. Takes the tarballs that `pnpm pack:all` leaves, and
// with npm, pnpm and yarn, each on another Node: makes a project with `a2a new`, installs it, runs its tests and its type check,
// starts it, and calls it. On a Node that is too old, the command and the package say so in a sentence.

import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { checkRuntimes } from "./check-runtimes.mjs";
import { findPackages, readJson, root } from "./packages.mjs";

const runFile = promisify(execFile);
const tarballs = join(root, "tarballs");
const { pnpm } = readJson(join(root, "package.json")).config;

/** Each tool with the Node that runs it, how it installs, and how it is told that our packages are files. */
const tools = [
  { name: "npm", node: "22.18.0", install: ["npm", "install", "--no-audit", "--no-fund"], pin: pinForNpm },
  { name: "pnpm", node: "24", install: ["npx", "--yes", `pnpm@${pnpm}`, "install"], pin: pinForPnpm },
  {
    name: "yarn",
    node: "26",
    install: ["npx", "--yes", "--package", "@yarnpkg/cli-dist@4", "yarn", "install"],
    pin: pinForYarn,
  },
];
const oldNode = "20.19.0";
/** Runtimes besides Node, as npm has them. */
const runtimes = { bun: "1.4.5", deno: "2.9.6", miniflare: "4.20260426.0" };

const packed = Object.fromEntries(
  findPackages().map(({ name, manifest }) => {
    const file = `${name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`;
    return [name, `file:${join(tarballs, file)}`];
  }),
);
const work = mkdtempSync(join(tmpdir(), "a2a-connect-installs-"));
try {
  const nodes = await installNodes([...tools.map(({ node }) => node), oldNode]);
  const first = join(work, "npm");
  for (const tool of tools) {
    const began = performance.now();
    const created = tool.name === "npm" ? await bootstrap(first, nodes.get(tool.node)) : first;
    await tryTool(tool, nodes.get(tool.node), created);
    console.log(`  ${tool.name} on Node ${tool.node}: ${((performance.now() - began) / 1000).toFixed(0)} s`);
  }
  await tryOldNode(nodes.get(oldNode), first);
  await tryRuntimes(process.argv.includes("--write"));
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log("installs: all good");

/** The Nodes, as npm has them: each version's folder of commands. */
async function installNodes(versions) {
  const name = `node-${process.platform}-${process.arch}`;
  const dependencies = Object.fromEntries(
    versions.map((version) => [`node-${version}`, `npm:${name}@${version}`]),
  );
  const directory = join(work, "nodes");
  write(directory, "package.json", JSON.stringify({ private: true, dependencies }));
  await run(directory, process.env.PATH, ["npm", "install", "--no-audit", "--no-fund"]);
  return new Map(
    versions.map((version) => [version, join(directory, "node_modules", `node-${version}`, "bin")]),
  );
}

/** A folder in which the command is installed, as `npx` does it. */
async function bootstrap(directory, bin) {
  const manifest = {
    private: true,
    dependencies: { "a2a-connect": packed["a2a-connect"] },
    overrides: others(),
  };
  write(directory, "package.json", JSON.stringify(manifest));
  await run(directory, pathWith(bin), ["npm", "install", "--no-audit", "--no-fund"]);
  return directory;
}

async function tryTool({ name, install, pin }, bin, created) {
  const directory = join(work, `${name}-agent`);
  const path = pathWith(bin);
  await run(work, path, [
    "node",
    join(created, "node_modules/a2a-connect/dist/main.js"),
    "new",
    `${name}-agent`,
  ]);
  pin(directory);
  await run(directory, path, install);
  await run(directory, path, ["npm", "test"]);
  await run(directory, path, ["npm", "run", "types"]);
  await callStarted(directory, path);
}

/** `npm start`, a message to the agent, and the end of both. */
async function callStarted(directory, path) {
  const env = { ...process.env, PATH: path };
  const agent = spawn("node_modules/.bin/a2a", ["serve", "agent.ts", "--port", "0"], { cwd: directory, env });
  try {
    const url = await new Promise((resolve, reject) => {
      let printed = "";
      const read = (chunk) => {
        printed += chunk;
        const found = /Agent Card: (http:\S+)\/\.well-known/.exec(printed);
        if (found !== null) resolve(found[1]);
      };
      agent.stdout.setEncoding("utf8").on("data", read);
      agent.stderr.setEncoding("utf8").on("data", read);
      agent.on("exit", () => reject(new Error(`the agent has ended:\n${printed}`)));
    });
    const { stdout } = await run(directory, path, [
      "node_modules/.bin/a2a",
      "send",
      "-a",
      url,
      "Who are you?",
    ]);
    if (!stdout.includes("You asked: “Who are you?”")) throw new Error(`it answers:\n${stdout}`);
  } finally {
    agent.kill();
  }
}

async function tryRuntimes(writesPage) {
  const began = performance.now();
  const directory = join(work, "runtimes");
  const names = ["node", "server", "client"].map((name) => `@a2a-connect/${name}`);
  const dependencies = { ...Object.fromEntries(names.map((name) => [name, packed[name]])), ...runtimes };
  const overrides = Object.fromEntries(Object.entries(packed).filter(([name]) => !names.includes(name)));
  const manifest = { private: true, type: "module", dependencies, overrides };
  write(directory, "package.json", JSON.stringify(manifest));
  await run(directory, process.env.PATH, ["npm", "install", "--no-audit", "--no-fund"]);
  await checkRuntimes(directory, writesPage);
  console.log(`  Deno, Bun and Workers: ${((performance.now() - began) / 1000).toFixed(0)} s`);
}

async function tryOldNode(bin, directory) {
  const sentence = "a2a-connect needs Node 22.18 or newer, and this is Node 20";
  for (const args of [
    [join(directory, "node_modules/a2a-connect/dist/main.js"), "--version"],
    [
      "--input-type=module",
      "--eval",
      'await import("a2a-connect").catch((error) => { throw error.message; })',
    ],
  ]) {
    const { stderr } = await runFile(join(bin, "node"), args, { cwd: directory }).then(
      () => ({ stderr: "" }),
      (error) => error,
    );
    if (!stderr.includes(sentence))
      throw new Error(`Node ${oldNode} does not say that it is too old:\n${stderr}`);
  }
  console.log(`  Node ${oldNode}: the command and the package say that it is too old`);
}

function pinForNpm(directory) {
  editManifest(directory, (manifest) => ({ ...manifest, overrides: others() }));
}

function pinForPnpm(directory) {
  editManifest(directory, (manifest) => manifest);
  const overrides = Object.entries(packed).map(([name, file]) => `  "${name}": "${file}"\n`);
  // The binary of TypeScript and the like need no scripts; what pnpm asks about is answered with no.
  write(directory, "pnpm-workspace.yaml", `overrides:\n${overrides.join("")}strictDepBuilds: false\n`);
}

/** Yarn fails when a registry lacks an optional package of vite's newest version; npm and pnpm leave it out. So it takes our vite. */
function pinForYarn(directory) {
  const { version: vite } = readJson(join(root, "node_modules/vite/package.json"));
  editManifest(directory, (manifest) => ({ ...manifest, resolutions: { ...packed, vite } }));
  write(
    directory,
    ".yarnrc.yml",
    "nodeLinker: node-modules\nenableTelemetry: false\nenableImmutableInstalls: false\n",
  );
  write(directory, "yarn.lock", "");
}

function editManifest(directory, edit) {
  const manifest = readJson(join(directory, "package.json"));
  const dependencies = { ...manifest.dependencies, "a2a-connect": packed["a2a-connect"] };
  write(directory, "package.json", JSON.stringify(edit({ ...manifest, dependencies }), null, 2));
}

/** Our packages but the one that a project names itself. */
function others() {
  const { "a2a-connect": own, ...rest } = packed;
  return rest;
}

function pathWith(bin) {
  return [bin, process.env.PATH].join(delimiter);
}

function write(directory, name, text) {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), text);
}

async function run(cwd, path, [command, ...args]) {
  try {
    return await runFile(command, args, {
      cwd,
      env: { ...process.env, PATH: path, CI: "1" },
      maxBuffer: 1e8,
    });
  } catch (error) {
    throw new Error(`${[command, ...args].join(" ")} failed in ${cwd}:\n${error.stdout}${error.stderr}`);
  }
}
