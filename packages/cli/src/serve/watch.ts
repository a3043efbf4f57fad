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

/**
 * Runs before the program, in its process, and tells which files it loads. What is installed does not change. The program ends with the
 * command that watches: otherwise it would keep the port, with code that no change replaces. Workers and processes that the program begins
 * inherit this, and are none of it.
 */
const reporter = `
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";
if (isMainThread && process.ppid === ${process.pid} && process.connected) {
  registerHooks({
    load(url, context, next) {
      if (url.startsWith("file:") && !url.includes("/node_modules/") && process.connected) {
        process.send({ loaded: url }, () => {});
      }
      return next(url, context);
    },
  });
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref(); // the listener would keep a program that has ended
}
`;

/**
 * Runs this very command without `--watch`, and starts it again whenever the module or a file that it imports changes,
 * also after a mistake was mended. Ends when the user interrupts, and with a server that ends where no file is watched.
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
  using files = new WatchedFiles(signal, (folder, why) => {
    const name = relative(io.cwd, folder) || "this folder";
    void output.warn(`changes in ${name} are not noticed: ${why}`).catch(() => {});
  });
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
    const ended = once(child, "close"); // after the last message
    const change = files.nextChange();
    let isStopped = false;
    const changed = await Promise.race([
      change,
      ended.then(() => {
        if (isStopped || signal.aborted || !files.areWatched) return undefined;
        void output.note("the server has ended; it starts again when a file changes");
        return change;
      }),
    ]);
    isStopped = true;
    // A module that never ends its first turn, by an endless loop say, hears no signal but this.
    const kill = setTimeout(() => child.kill("SIGKILL"), longestStopMs(graceMs));
    child.kill("SIGTERM");
    const [exitCode] = await ended;
    clearTimeout(kill);
    if (changed !== undefined) await output.note(`${relative(io.cwd, changed)} has changed: starting again`);
    else if (!signal.aborted) return exitWith(exitCode ?? 1);
  }
  exitWith(0);
}

/** Files whose folders are watched: a file that is replaced by another of its name is noticed, too. */
class WatchedFiles implements Disposable {
  readonly #signal: AbortSignal;
  readonly #tellUnwatched: (folder: string, why: string) => void;
  readonly #files = new Set<string>();
  readonly #folders = new Map<string, FSWatcher>();
  readonly #unwatched = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  /** The first change that was not told yet. */
  #changedAt: number | undefined;
  #tell: (changed: string | undefined) => void = () => {};

  /** @param tellUnwatched is told once of each folder that cannot be watched */
  constructor(signal: AbortSignal, tellUnwatched: (folder: string, why: string) => void) {
    this.#signal = signal;
    this.#tellUnwatched = tellUnwatched;
    signal.addEventListener("abort", () => this.#tell(undefined), { once: true });
  }

  /** Whether a change may be noticed. */
  get areWatched(): boolean {
    return this.#folders.size > 0;
  }

  add(file: string): void {
    this.#files.add(file);
    const folder = dirname(file);
    if (this.#folders.has(folder)) return;
    try {
      this.#folders.set(folder, this.#watch(folder));
    } catch (error) {
      // The folder is gone, or other programs of the machine watch as many as it allows. The next file tries again.
      if (this.#unwatched.has(folder)) return;
      this.#unwatched.add(folder);
      this.#tellUnwatched(folder, error instanceof Error ? error.message : String(error));
    }
  }

  #watch(folder: string): FSWatcher {
    const watcher = watch(folder, (_event, name) => {
      const found = [...this.#files].find((each) => dirname(each) === folder && basename(each) === name);
      if (found !== undefined) this.#changed(found);
    });
    watcher.on("error", () => this.#folders.delete(folder)); // a removed folder is watched again with its next file
    return watcher;
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
