import { spawn } from "node:child_process";
import { once } from "node:events";
import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { isObject } from "../json.ts";
import { longestStopMs } from "./run-server.ts";

/** An editor writes a file in several steps, and saves several files at a time. */
const settleMs = 100;

/** Files that change all the time are not waited for any longer. */
const longestSettleMs = 2_000;

/** Work of an old version is not worth a longer wait. */
const defaultGraceMs = 500;

/** Runs before the program, in its process, and tells which files it loads. What is installed does not change. */
const reporter = `
import { registerHooks } from "node:module";
registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:") && !url.includes("/node_modules/")) process.send?.({ loaded: url });
    return next(url, context);
  },
});
`;

/**
 * Runs this very command without `--watch`, and starts it again whenever the module or a file that it imports changes,
 * also after a mistake was mended. Ends when the user interrupts.
 *
 * Node's own `--watch` does not notice the second save of an editor that writes a new file and renames it.
 */
export async function serveAndWatch(
  { output, signal, io, exitWith }: CommandContext,
  graceMs: number = defaultGraceMs,
): Promise<void> {
  if (output.format === "json") {
    throw usageError(
      "--watch and -o json contradict each other: --watch prints at every start, and -o json prints one document",
    );
  }
  const [, main = "", ...args] = process.argv;
  const again = args.filter((arg) => arg !== "--watch");
  using files = new WatchedFiles(signal);
  while (!signal.aborted) {
    const child = spawn(
      process.execPath,
      [
        "--import",
        `data:text/javascript,${encodeURIComponent(reporter)}`,
        main,
        ...again,
        "--grace",
        `${graceMs}ms`,
      ],
      { stdio: ["inherit", "inherit", "inherit", "ipc"] },
    );
    child.on("message", (message) => {
      if (isObject(message) && typeof message["loaded"] === "string")
        files.add(fileURLToPath(message["loaded"]));
    });
    const ended = once(child, "exit");
    void ended.then(() => {
      if (!signal.aborted) void output.note("the server has ended; it starts again when a file changes");
    });
    const changed = await files.nextChange();
    // A module that never ends its first turn, by an endless loop say, hears no signal but this.
    const kill = setTimeout(() => child.kill("SIGKILL"), longestStopMs(graceMs));
    child.kill("SIGTERM");
    await ended;
    clearTimeout(kill);
    if (changed !== undefined) await output.note(`${relative(io.cwd, changed)} has changed: starting again`);
  }
  exitWith(0);
}

/** Files whose folders are watched: a file that is replaced by another of its name is noticed, too. */
class WatchedFiles implements Disposable {
  readonly #signal: AbortSignal;
  readonly #files = new Set<string>();
  readonly #folders = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;
  /** The first change that was not told yet. */
  #changedAt: number | undefined;
  #tell: (changed: string | undefined) => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#tell(undefined), { once: true });
  }

  add(file: string): void {
    this.#files.add(file);
    const folder = dirname(file);
    if (!this.#folders.has(folder)) {
      const watcher = watch(folder, (_event, name) => {
        const found = [...this.#files].find((each) => dirname(each) === folder && basename(each) === name);
        if (found !== undefined) this.#changed(found);
      });
      watcher.on("error", () => this.#folders.delete(folder)); // a removed folder is watched again with its next file
      this.#folders.set(folder, watcher);
    }
  }

  /** A file that changes from now on, when no other has changed for a moment; undefined after an interruption. */
  nextChange(): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#tell = resolve;
    if (this.#signal.aborted) resolve(undefined);
    return promise;
  }

  #changed(file: string): void {
    const now = performance.now();
    this.#changedAt ??= now;
    clearTimeout(this.#timer);
    const tell = () => {
      this.#changedAt = undefined;
      this.#tell(file);
    };
    this.#timer = setTimeout(tell, Math.min(settleMs, this.#changedAt + longestSettleMs - now));
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#folders.values()) watcher.close();
  }
}
