import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { findA2AError } from "@a2a-connect/core";
import { onTestFinished } from "vitest";
import { bundleProgram } from "../../packages/cli/test-support/bundled-program.ts";
import type { Order, Report } from "./agent-main.ts";
import type { Failpoint, WriteCounts } from "./failpoint-store.ts";
import { createService, type Place, type Service } from "./service.ts";

/** The fault agent in a process of its own, which is started again as soon as it has been killed. */
export interface SupervisedAgent extends Service {
  /** How often it was killed. */
  readonly kills: number;
  /**
   * Sets a failpoint in the process as it is now, and one for each of the processes that follow it, from their very start.
   */
  arm(first: Failpoint | undefined, ...next: readonly Failpoint[]): Promise<void>;
  /** Whether the database takes writes. Default true. */
  setWritable(writable: boolean): Promise<void>;
  /** Id of the process as it is now. */
  readonly pid: number;
  /** Writes since the failpoint was set, of a process that has not been killed since. */
  counts(): Promise<WriteCounts>;
}

const main = await bundleProgram(new URL("agent-main.ts", import.meta.url));

/** How long an error waits for the end of the process that would explain it. */
const explanationMs = 5_000;

interface Running {
  readonly child: ChildProcess;
  /** Undefined when it ended before it could serve. */
  readonly url: Promise<string | undefined>;
  readonly ended: Promise<void>;
}

/** How it is started. */
export interface SuperviseOptions {
  /** A command, and its first arguments, that runs another one given to it in its own place. Default: none. */
  readonly within?: readonly string[];
  /** Whether an error is of what the test does to the agent besides killing it. Default: none is. */
  readonly isLost?: (error: unknown) => boolean;
}

/** Starts it on a directory; it ends with the running test. */
export async function superviseAgent(
  dataDir: string,
  { within = [], isLost = () => false }: SuperviseOptions = {},
): Promise<SupervisedAgent> {
  let kills = 0;
  let next: Failpoint[] = [];
  let problem: Error | undefined;
  let running = start();
  onTestFinished(() => {
    running.child.removeAllListeners("close");
    running.child.kill("SIGKILL");
  });

  function start(): Running {
    const failpoint = next.shift();
    const words = [main, dataDir, ...(failpoint === undefined ? [] : [JSON.stringify(failpoint)])];
    const [command = process.execPath, ...args] = [...within, process.execPath, ...words];
    const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    const ended = Promise.withResolvers<void>();
    child.once("close", (code, signal) => {
      if (signal === "SIGKILL") {
        kills += 1;
        running = start();
      } else {
        problem = new Error(`the agent ended by itself, with ${code ?? signal}`);
      }
      ended.resolve();
    });
    const ready = once(child, "message").then((words) => {
      const [report] = words as [Report]; // an agent says nothing else
      return typeof report === "object" && "url" in report ? report.url : undefined;
    });
    return { child, url: Promise.race([ready, ended.promise.then(() => undefined)]), ended: ended.promise };
  }

  async function current(): Promise<Running & { readonly place: Place }> {
    for (;;) {
      if (problem !== undefined) throw problem;
      const now = running;
      const url = await now.url;
      if (url !== undefined)
        return { ...now, place: { url, isLost: async (error) => isLost(error) || isKilled(error, now) } };
      await now.ended;
    }
  }

  async function ask(order: Order): Promise<Report> {
    const { child } = await current();
    const answer = once(child, "message");
    child.send(order);
    const [report] = (await answer) as [Report]; // an agent says nothing else
    return report;
  }

  await current();
  return {
    ...createService(async () => (await current()).place),
    get kills() {
      return kills;
    },
    async arm(first, ...later) {
      next = [...later];
      await ask({ arm: first ?? null });
    },
    async setWritable(writable) {
      await ask({ writable });
    },
    get pid() {
      if (running.child.pid === undefined) throw new Error("the agent was not started");
      return running.child.pid;
    },
    async counts() {
      const report = await ask("count");
      if (typeof report === "string" || !("counts" in report)) throw new Error("there are no counts");
      return report.counts;
    },
  };
}

/** What a server has answered is its own fault. */
async function isKilled(error: unknown, now: Running): Promise<boolean> {
  return findA2AError(error) === undefined && endsSoon(now);
}

/** A killed process takes its connections with it: what they report comes before the news of its end. */
async function endsSoon({ ended }: Pick<Running, "ended">): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), explanationMs);
  void ended.then(() => resolve(true));
  return promise.finally(() => clearTimeout(timer));
}
