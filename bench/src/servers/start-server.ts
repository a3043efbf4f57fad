import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { ControlReply, ControlRequest, Target, Usage } from "./control.ts";
import { onServerCore } from "./pin.ts";
import { createServerDirectory, type ServerDirectory } from "./server-directory.ts";
import type { ServerSettings } from "./server-settings.ts";

/** Ours, the one it is compared with, or a server of Node's HTTP alone. */
export type Side = "ours" | "peer" | "bare";

/** A server under test, in a process of its own. Disposing it ends the process and removes its files. */
export interface BenchServer extends AsyncDisposable {
  readonly side: Side;
  readonly target: Target;
  /** What the process has used so far. */
  usage(): Promise<Usage>;
  /** The same after a garbage collection. */
  collect(): Promise<Usage>;
  /** Ends the process at once, as `kill -9` does. */
  kill(): Promise<void>;
}

/** How servers are started. */
export interface StartOptions {
  /** Where it keeps its files, for one that is started again there. Default: a new one that goes with the server. */
  readonly directory?: ServerDirectory;
  readonly settings?: ServerSettings;
  /** The server's script. Default: that of the side, in this folder. */
  readonly script?: string;
  /**
   * Whether its threads may run on the load's core, too. Otherwise V8's, which collect garbage beside the main thread, take the
   * main thread's core from it: more than on any machine with two cores. Default: false.
   */
  readonly onAllCores?: boolean;
  /** Directory for CPU profiles of our server; none are taken without it. */
  readonly profileDirectory?: string | undefined;
}

const fileNames = { ours: "our", peer: "peer", bare: "bare" } as const;

const startTimeoutMs = 30_000;
const controlTimeoutMs = 180_000;
const stopTimeoutMs = 5_000;

/** Servers that have not been disposed of: however the bench ends, nothing of them is left. */
const running = new Set<ChildProcess>();
process.prependOnceListener("exit", () => {
  for (const child of running) {
    child.kill("SIGKILL");
  }
});

/** Starts a server and waits until it listens. @throws Error with what it wrote, when it does not */
export async function startServer(side: Side, options: StartOptions = {}): Promise<BenchServer> {
  const ownScript = join(import.meta.dirname, `${fileNames[side]}-server.ts`);
  const { settings = {}, profileDirectory, script = ownScript } = options;
  const directory = options.directory ?? createServerDirectory();
  const flags = ["--expose-gc"];
  if (side === "ours" && profileDirectory !== undefined) {
    flags.push("--cpu-prof", `--cpu-prof-dir=${profileDirectory}`);
  }
  const ownCommand = [process.execPath, ...flags, script, directory.path, JSON.stringify(settings)];
  const [command = "", ...args] = onServerCore(ownCommand, options.onAllCores);
  const child = spawn(command, args, {
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  running.add(child);
  let complaints = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-4_000);
  });

  async function receive(timeoutMs: number): Promise<ControlReply> {
    const waiting = new AbortController();
    const { signal } = waiting;
    const late = setTimeout(() => waiting.abort(), timeoutMs);
    try {
      return await Promise.race([
        once(child, "message", { signal }).then(([reply]) => reply as ControlReply),
        once(child, "exit", { signal }).then(() => Promise.reject(new Error(`${side} went away`))),
      ]);
    } catch (cause) {
      throw new Error(`no answer from the process of ${side}: ${complaints}`, { cause });
    } finally {
      clearTimeout(late);
      waiting.abort();
    }
  }

  async function ask(request: ControlRequest): Promise<Usage> {
    const reply = receive(controlTimeoutMs);
    child.send(request);
    const answer = await reply;
    if (answer.kind !== "usage") {
      throw new Error(`${side} answered "${answer.kind}"`);
    }
    return answer.usage;
  }

  async function stop(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      const impatience = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      if (child.connected) {
        child.send("stop" satisfies ControlRequest, () => {});
      }
      await exited;
      clearTimeout(impatience);
    }
    running.delete(child);
    if (options.directory === undefined) {
      directory[Symbol.dispose]();
    }
  }

  async function kill(): Promise<void> {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  try {
    const reply = await receive(startTimeoutMs);
    if (reply.kind !== "ready") {
      throw new Error(`${side} answered "${reply.kind}" before it was ready`);
    }
    const { target } = reply;
    return {
      side,
      target,
      usage: () => ask("usage"),
      collect: () => ask("collect"),
      kill,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
