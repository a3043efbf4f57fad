import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** The core of the server under test, and that of the load; undefined when this machine cannot keep them apart. */
export const cores: { readonly server: string; readonly load: string } | undefined = canPin()
  ? { server: "0", load: "1" }
  : undefined;

/** Keeps this process off the server's core. */
export function pinLoad(): void {
  if (cores !== undefined) {
    spawnSync("taskset", ["-a", "-c", "-p", cores.load, String(process.pid)]);
  }
}

/** The command that runs another one on the server's core, or on both. */
export function onServerCore(command: readonly string[], isOnBoth = false): readonly string[] {
  if (cores === undefined) return command;
  return ["taskset", "-c", isOnBoth ? `${cores.server},${cores.load}` : cores.server, ...command];
}

function canPin(): boolean {
  return availableParallelism() >= 2 && spawnSync("taskset", ["-V"]).status === 0;
}
