// Installs what the peers of `languages.ts` need, from the registries of their languages, and makes the peers:
//
//   node test/interop/peers/install.ts [command to run then…]
//
// A language that the machine does not have is left out, and its tests are skipped. Every other failure ends the program. What
// is there is not made again.

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Command,
  type Installation,
  inputsOf,
  installations,
  isInstalled,
  root,
  stampFile,
} from "./languages.ts";

function say(line: string): void {
  process.stderr.write(`peers: ${line}\n`);
}

/**
 * Runs a command to its end.
 *
 * @returns what it printed, or undefined when there is no such command
 * @throws Error when it fails
 */
function run({ line: [command, ...args], env }: Command, prints: "to us" | "to people"): string | undefined {
  const { error, status, stdout } = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: "utf8",
    stdio: ["ignore", prints === "to us" ? "pipe" : "inherit", "inherit"],
  });
  if (error !== undefined && "code" in error && error.code === "ENOENT") return undefined;
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
  return stdout ?? "";
}

function install(installation: Installation): void {
  const { name, toolchain, steps, stubs } = installation;
  if (isInstalled(installation)) {
    say(`${name}: everything is here`);
    return;
  }
  const version = run(toolchain, "to us")?.trim();
  if (version === undefined) {
    say(`${name}: left out, because there is no \`${toolchain.line[0]}\` here; its tests are skipped`);
    return;
  }
  say(`${name}: ${version}; installing what the peers need (only needed once) …`);
  rmSync(stampFile(installation), { force: true });
  rmSync(join(root, stubs), { recursive: true, force: true });
  mkdirSync(join(root, stubs), { recursive: true });
  for (const step of steps) {
    const began = performance.now();
    if (run(step, "to people") === undefined) throw new Error(`there is no ${step.line[0]}`);
    say(`${name}: ${step.what}, ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
  writeFileSync(stampFile(installation), `${inputsOf(installation)} ${version}\n`);
}

try {
  for (const each of installations) install(each);
} catch (error) {
  say(`${(error as Error).message}; are the registries of the languages reachable?`); // nothing else is thrown here
  process.exit(1);
}
const [command, ...args] = process.argv.slice(2);
if (command !== undefined) {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  process.exit(status ?? 1);
}
