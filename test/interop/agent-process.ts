import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { bundleProgram } from "../../packages/cli/test-support/bundled-program.ts";

/** The reference agent in a process of its own: what `npm start` serves. */
export interface AgentProcess {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** `host:port`, as gRPC clients dial it. */
  readonly authority: string;
  /**
   * Sends SIGTERM, waits for the end and removes the data directory.
   *
   * @returns the kinds of errors that the agent has logged: nothing else went wrong inside
   * @throws Error with what the agent printed, when it does not end cleanly
   */
  stop(): Promise<ReadonlySet<string>>;
}

const mainModule = await bundleProgram(
  new URL("../../examples/reference-agent/src/main.ts", import.meta.url),
);

/** How long an agent may live, should nobody stop it. */
const maxLifeMs = 180_000;

/**
 * Starts the reference agent on any free port, with its default store in a fresh directory.
 *
 * @param options further command line options, such as `--profile`, `bare`
 * @throws Error with what it printed, when it ends before it is ready
 */
export async function startAgentProcess(...options: string[]): Promise<AgentProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), "a2a-connect-interop-"));
  const child = spawn(process.execPath, [mainModule, "--port", "0", "--data", dataDir, ...options], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: maxLifeMs,
    killSignal: "SIGKILL",
  });
  const exited = once(child, "close");
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });

  let ready: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    ready = /^ready (\S+)$/.exec(line)?.[1];
    if (ready !== undefined) {
      break;
    }
  }
  child.stdout.resume();
  if (ready === undefined) {
    await exited;
    await rm(dataDir, { recursive: true, force: true });
    throw new Error(`the agent ended before it was ready: ${errors}`);
  }
  return {
    url: ready,
    authority: new URL(ready).host,
    async stop() {
      child.kill("SIGTERM");
      const [code, signal] = await exited;
      await rm(dataDir, { recursive: true, force: true });
      if (code !== 0) {
        throw new Error(`the agent ended with ${signal ?? code}: ${errors}`);
      }
      return loggedErrors(errors);
    },
  };
}

/** The messages of the log's errors; a line that is none of the log stands for itself. */
function loggedErrors(stderr: string): ReadonlySet<string> {
  const lines = stderr.split("\n").filter((line) => line !== "");
  return new Set(
    lines.flatMap((line) => {
      const { level, message } = line.startsWith("{") ? JSON.parse(line) : { level: "error", message: line };
      return level === "error" ? [message] : [];
    }),
  );
}
