import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type MemorySet, openMemoryStore } from "@a2a-connect/consolidation/worker";
import { onTestFinished } from "vitest";
import { bundleProgram } from "../../packages/cli/test-support/bundled-program.ts";

/** The worker in a process of its own, again and again on the same files and the same port. */
export interface MortalWorker {
  readonly url: string;
  /** `kill -9`, as soon as it can be had, and a new one in its place; resolves when that is ready. */
  kill(): Promise<void>;
  /** What it has done to the world so far: `extract TRANSCRIPT` and `save TASK`, in order. */
  sideEffects(): readonly string[];
  /** What it has saved. */
  memories(): MemorySet;
}

/** @param paceMs rest after each transcript */
export async function startWorker(paceMs: number): Promise<MortalWorker> {
  const directory = temporaryDirectory();
  const memories = join(directory, "memories.sqlite");
  const effects = join(directory, "side-effects.txt");
  const files = ["--db", join(directory, "tasks.sqlite"), "--memories", memories, "--side-effects", effects];
  const start = (port: string) => startMain("worker", ...files, "--pace", String(paceMs), "--port", port);
  const first = start("0");
  const url = await first.line(/^ready (http:\S+)$/);
  const { port } = new URL(url);
  let running = first;
  let restarts: Promise<void> = Promise.resolve();
  const restart = async () => {
    await running.kill();
    running = start(port);
    await running.line(/^ready/);
  };
  return {
    url,
    kill() {
      restarts = restarts.then(restart); // one after the other: there is one port
      return restarts;
    },
    sideEffects: () => readFileSync(effects, "utf8").trim().split("\n"),
    memories() {
      using store = openMemoryStore(memories);
      return store.load();
    },
  };
}

/** A main module of the example that runs. */
export interface MainProcess {
  /** Waits for a line of its output. @returns the pattern's first group, or the line */
  line(pattern: RegExp): Promise<string>;
  /** Ends it without leaving it time for anything. */
  kill(): Promise<void>;
  /** Waits for its end. @returns all that it wrote */
  output(): Promise<string>;
}

const worker = await bundleProgram(new URL("../../examples/consolidation/src/worker.ts", import.meta.url));
// Not bundled: it finds its data beside itself.
const orchestrator = fileURLToPath(
  new URL("../../examples/consolidation/src/orchestrator.ts", import.meta.url),
);

export function startMain(name: "worker" | "orchestrator", ...options: readonly string[]): MainProcess {
  const main = name === "worker" ? worker : orchestrator;
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [main, ...options]);
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const lines: string[] = [];
  const closed = once(child, "close");
  let heard = Promise.withResolvers<void>();
  const hear = (line: string) => {
    lines.push(line);
    heard.resolve();
    heard = Promise.withResolvers();
  };
  createInterface(child.stdout).on("line", hear);
  createInterface(child.stderr).on("line", hear);
  return {
    async line(pattern) {
      for (let next = 0; ; ) {
        for (; next < lines.length; next++) {
          const match = pattern.exec(lines[next] ?? "");
          if (match !== null) return match[1] ?? match[0];
        }
        const more = await Promise.race([heard.promise.then(() => true), closed.then(() => false)]);
        if (!more && next === lines.length) throw new Error(`${name} ended: ${lines.join("\n")}`);
      }
    },
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
    async output() {
      await closed;
      return lines.join("\n");
    },
  };
}

/** A directory of the running test's own, removed at its end. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "a2a-consolidation-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
