import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { bundleProgram } from "../../packages/cli/test-support/bundled-program.ts";

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** All it wrote on stderr. */
  readonly errors: string;
}

/** The reference agent in a process of its own, on a SQLite file. */
export interface AgentProcess {
  readonly url: string;
  /** Sends a signal; SIGKILL leaves it no time for anything. */
  signal(name: "SIGKILL" | "SIGTERM"): void;
  /** Resolves when it has ended, by a signal or by itself. */
  readonly ended: Promise<ProcessEnd>;
}

const main = await bundleProgram(new URL("../../examples/reference-agent/src/main.ts", import.meta.url));

/**
 * Starts the agent on any free port. Resolves once it is ready, or has ended before it was.
 *
 * @param options further command line options
 */
export async function launchAgent(
  dataDir: string,
  ...options: readonly string[]
): Promise<AgentProcess | ProcessEnd> {
  const child = spawn(process.execPath, [main, "--port", "0", "--data", dataDir, ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let output = "";
  let errors = "";
  const ready = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<ProcessEnd>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    const url = /^ready (http:\S+)\n/m.exec(output)?.[1];
    if (url !== undefined) ready.resolve(url);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  child.on("error", ended.reject);
  child.on("close", (code, signal) => ended.resolve({ code, signal, errors }));
  const first = await Promise.race([ready.promise, ended.promise]);
  if (typeof first !== "string") return first;
  return { url: first, signal: (name) => void child.kill(name), ended: ended.promise };
}

/** Starts the agent. @throws Error when it ends before it is ready */
export async function startAgent(dataDir: string, ...options: readonly string[]): Promise<AgentProcess> {
  const agent = await launchAgent(dataDir, ...options);
  if ("code" in agent) throw new Error(`the agent ended with ${agent.code}: ${agent.errors}`);
  return agent;
}

/** A directory of the running test's own, removed at its end. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "a2a-crash-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The file that the agent keeps its tasks in. */
export function storeFile(dataDir: string): string {
  return join(dataDir, "tasks.sqlite");
}
