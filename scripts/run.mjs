// Runs a script of package.json on a machine that has nothing but git, npm and some Node >= 20:
//
//   node scripts/run.mjs [script] [arguments…]
//
// Installs pnpm, Node 24 and all dependencies from the npm registry unless a stamp says that they are there, then starts
// the script's command with the workspace's Node first on PATH. Without a script it only installs. Plain JavaScript
// without dependencies, because it runs before there are any. `npm start` calls it with `exec`: npm signals its shell,
// and a shell that is still there would die and leave us behind.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const bin = join(root, "node_modules", ".bin");
const stampFile = join(root, "node_modules", ".a2a-stamp");
const isWindows = process.platform === "win32";
/** npm repeats to its child a Ctrl-C that the terminal has sent to both; within this time two signals are one. */
const sameSignalMs = 500;

/** Progress goes to stderr: stdout belongs to the script. */
function say(line) {
  process.stderr.write(`a2a-connect: ${line}\n`);
}

/** What an installation depends on: the locked dependencies, the Node that they are for, and this machine. */
function currentStamp() {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "pnpm-lock.yaml")))
    .digest("hex");
  return `${lock} node ${manifest.devDependencies.node} pnpm ${manifest.config.pnpm} ${process.platform}-${process.arch}\n`;
}

async function install() {
  const stamp = currentStamp();
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  const began = performance.now();
  say(
    `installing Node ${manifest.devDependencies.node} and all dependencies with pnpm ${manifest.config.pnpm} (only needed once) …`,
  );
  const pnpm = [
    "--yes",
    `pnpm@${manifest.config.pnpm}`,
    "install",
    "--frozen-lockfile",
    "--config.confirmModulesPurge=false", // there is no person to ask
    `--config.nodeVersion=${manifest.devDependencies.node}`, // check engines against our Node, not the one that starts us
  ];
  const outcome = await run("npx", pnpm, process.env);
  if (outcome.code !== 0) {
    say("the installation failed; is the npm registry reachable?");
    finish(outcome);
  }
  writeFileSync(stampFile, stamp);
  say(`installed in ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

/** Start the script itself, not a second package manager: it would cost a second and swallow signals. */
async function runScript(name, args) {
  const commandLine = manifest.scripts[name];
  if (commandLine === undefined) throw new Error(`package.json has no script "${name}"`);
  if (/[&|;<>()$`"'\\*?]/.test(commandLine))
    throw new Error(`script "${name}" is more than one plain command`);
  const [command, ...fixed] = commandLine.split(/\s+/);
  say(`${name}: ${[commandLine, ...args].join(" ")}`);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` };
  finish(await run(command, [...fixed, ...args], env));
}

/**
 * Run a command to its end. It stays in our process group, so that killing the group leaves nothing behind; a
 * signal that the whole group got reaches it a second time through us, which commands take for one.
 */
function run(command, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env,
      stdio: ["ignore", "inherit", "inherit"],
      shell: isWindows, // its commands are .cmd files
    });
    const lastSent = new Map();
    const forward = (signal) => {
      const now = performance.now();
      if (now - (lastSent.get(signal) ?? Number.NEGATIVE_INFINITY) > sameSignalMs) child.kill(signal);
      lastSent.set(signal, now);
    };
    const signals = ["SIGTERM", "SIGINT", "SIGHUP"];
    for (const signal of signals) process.on(signal, forward);
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      for (const name of signals) process.off(name, forward);
      resolve({ code, signal });
    });
  });
}

/** End as the command ended. */
function finish({ code, signal }) {
  if (signal !== null) process.kill(process.pid, signal);
  else process.exit(code);
}

const [script, ...args] = process.argv.slice(2);
try {
  await install();
  if (script !== undefined) await runScript(script, args);
} catch (error) {
  say(error.message);
  process.exit(1);
}
