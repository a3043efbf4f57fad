import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { quote } from "../src/commands-to-copy.ts";
import { bundleProgram } from "./bundled-program.ts";

const main = await bundleProgram(new URL("../src/main.ts", import.meta.url));

/** How long the terminal may show nothing that is waited for; less than the time of a test, so that its error comes first. */
const patienceMs = 60_000;

/** For tests at a terminal. */
export const atTerminal = {
  skip: spawnSync("script", ["--version"]).error !== undefined,
  meta: { skipReason: "no `script` of util-linux, which makes terminals" },
} as const;

/** The command at a terminal, and somebody at its keyboard. */
export interface TerminalCommand extends AsyncDisposable {
  /** Everything that the terminal was sent. */
  readonly sent: string;
  /** Waits until something is sent that was not waited for before, then types. */
  answer(awaited: string, keys?: string): Promise<void>;
  readonly exitCode: Promise<number>;
}

/** What a command finds around it at a terminal. */
export interface TerminalSurroundings {
  readonly columns?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A file that the standard output goes to instead of the terminal. */
  readonly stdout?: string;
}

/** Starts the command as a user does, at a terminal of that width. */
export function startOnTerminal(
  argv: readonly string[],
  { columns = 80, cwd = tmpdir(), env = {}, stdout }: TerminalSurroundings = {},
): TerminalCommand {
  const words = [process.execPath, main, ...argv].map(quote).join(" ");
  const shell = `stty cols ${columns}; exec ${words}${stdout === undefined ? "" : ` >${quote(stdout)}`}`;
  const child = spawn("script", ["-qefc", shell, "/dev/null"], {
    cwd,
    env: { ...process.env, HOME: cwd, TERM: "xterm", SHELL: "/bin/sh", ...env },
  });
  let sent = "";
  let seen = 0;
  let ended = false;
  let wake = Promise.withResolvers<void>();
  const woken = (): void => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    sent += text;
    woken();
  });
  const exitCode = once(child, "close").then(([code]) => {
    ended = true;
    woken();
    return typeof code === "number" ? code : -1;
  });
  return {
    get sent() {
      return sent;
    },
    async answer(awaited, keys = "") {
      const late = pause(patienceMs, "late" as const, { ref: false });
      for (let at = sent.indexOf(awaited, seen); ; at = sent.indexOf(awaited, seen)) {
        if (at >= 0) {
          seen = at + awaited.length;
          break;
        }
        if (ended)
          throw new Error(`ended without ${JSON.stringify(awaited)}: ${JSON.stringify(sent.slice(seen))}`);
        if ((await Promise.race([wake.promise, late])) === "late")
          throw new Error(`no ${JSON.stringify(awaited)} after: ${JSON.stringify(sent)}`);
      }
      child.stdin.write(keys);
    },
    exitCode,
    async [Symbol.asyncDispose]() {
      if (!ended) child.kill("SIGKILL");
      await exitCode;
    },
  };
}
