import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import type { CliIo } from "../src/cli-io.ts";
import { runCli } from "../src/run.ts";
import { bundleProgram } from "./bundled-program.ts";

const main = await bundleProgram(new URL("../src/main.ts", import.meta.url));

/** What became of a command. */
export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** What a command finds around it. */
export interface CommandSurroundings {
  readonly cwd?: string;
  /** Default `cwd`. */
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Whether both outputs are terminals. Default false. */
  readonly isTerminal?: boolean;
}

/** A command that runs. */
export interface RunningCommand {
  /** What it has printed so far, on both streams. */
  readonly printed: string;
  /** Resolves with the match as soon as it has printed something of this kind; rejects when it ends without. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** A Ctrl-C; only a process of its own can tell it from another signal. */
  interrupt(signal?: "SIGINT" | "SIGTERM" | "SIGKILL"): void;
  readonly result: Promise<CommandResult>;
}

/** Runs a command in this process, over real sockets, and waits for its end. */
export async function runCommand(
  argv: readonly string[],
  surroundings?: CommandSurroundings,
): Promise<CommandResult> {
  return await startCommand(argv, surroundings).result;
}

/** Starts a command in this process. */
export function startCommand(
  argv: readonly string[],
  { cwd = tmpdir(), home = cwd, env = {}, stdin = "", isTerminal = false }: CommandSurroundings = {},
): RunningCommand {
  const transcript = new Transcript();
  const interrupts = new AbortController();
  const io: CliIo = {
    stdout: { isTerminal, write: async (text) => transcript.add("stdout", text) },
    stderr: { isTerminal, write: async (text) => transcript.add("stderr", text) },
    stdin: Readable.from([Buffer.from(stdin)]),
    env,
    cwd,
    home,
    interrupted: interrupts.signal,
  };
  const result = runCli(argv, io).then((exitCode) => transcript.end(exitCode));
  return transcript.follow(result, () => interrupts.abort());
}

/** Starts the command as a user does, in a process of its own. */
export function spawnCommand(
  argv: readonly string[],
  { cwd = tmpdir(), home = cwd, env = {}, stdin = "" }: CommandSurroundings = {},
): RunningCommand {
  const child: ChildProcess = spawn(process.execPath, [main, ...argv], {
    cwd,
    env: { ...process.env, HOME: home, ...env },
  });
  const transcript = new Transcript();
  child.stdin?.end(stdin);
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => transcript.add(name, text));
  }
  const result = once(child, "close").then(([code]) => transcript.end(typeof code === "number" ? code : -1));
  return transcript.follow(result, (signal = "SIGINT") => child.kill(signal));
}

/** What was printed, for those who wait for it. */
class Transcript {
  readonly #texts = { stdout: "", stderr: "" };
  readonly #waiters = new Set<() => void>();
  #printed = "";
  #ended = false;

  add(stream: "stdout" | "stderr", text: string): void {
    this.#texts[stream] += text;
    this.#printed += text;
    this.#wake();
  }

  end(exitCode: number): CommandResult {
    this.#ended = true;
    this.#wake();
    return { ...this.#texts, exitCode };
  }

  follow(result: Promise<CommandResult>, interrupt: RunningCommand["interrupt"]): RunningCommand {
    const printed = () => this.#printed;
    return {
      get printed() {
        return printed();
      },
      waitFor: (pattern) => this.#waitFor(pattern),
      interrupt,
      result,
    };
  }

  #waitFor(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this.#printed);
        if (match === null && !this.#ended) {
          return;
        }
        this.#waiters.delete(look);
        if (match === null) {
          reject(new Error(`the command ended without printing ${pattern}:\n${this.#printed}`));
        } else {
          resolve(match);
        }
      };
      this.#waiters.add(look);
      look();
    });
  }

  #wake(): void {
    for (const look of [...this.#waiters]) {
      look();
    }
  }
}
