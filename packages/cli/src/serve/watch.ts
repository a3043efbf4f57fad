import { spawn } from "node:child_process";
import { once } from "node:events";
import type { CommandContext } from "../command-context.ts";

/**
 * Runs this very command without `--watch` under Node's own watcher: it starts again whenever the module or anything that
 * it imports has changed, also after a mistake in it was mended. Ends when the user interrupts.
 */
export async function watch({ signal, exitWith }: CommandContext): Promise<void> {
  const [, main = "", ...args] = process.argv;
  const again = args.filter((arg) => arg !== "--watch");
  const watcher = spawn(process.execPath, ["--watch", "--watch-preserve-output", main, ...again], {
    stdio: "inherit",
  });
  const stop = (): void => void watcher.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  try {
    await once(watcher, "exit");
  } finally {
    signal.removeEventListener("abort", stop);
  }
  exitWith(0);
}
