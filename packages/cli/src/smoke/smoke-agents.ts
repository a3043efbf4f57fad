import type { AgentClient } from "@a2a-connect/client";
import type { AgentSkill } from "@a2a-connect/proto";
import { describeFailure } from "../failures.ts";
import { expectedFailureTag } from "./expected-failure.ts";
import { type ExampleRun, isAlive, isRefusal, runExample } from "./run-example.ts";

/** One line of the report: a skill that was tried, or an agent that could not even be opened. */
export interface SmokeResult extends Omit<ExampleRun, "skill" | "task" | "canceled"> {
  /** The agent, as it was given. */
  readonly agent: string;
  /** Undefined when the agent could not be opened, or lists no skills. */
  readonly skill: string | undefined;
  readonly taskId: string | undefined;
  readonly ok: boolean;
}

/** How agents are tried. */
export interface SmokeOptions {
  readonly open: (reference: string) => Promise<AgentClient>;
  /** Skills that are tried at a time, over all agents. */
  readonly concurrency: number;
  /** For each skill. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Told each result as soon as it is there. */
  readonly onResult: (result: SmokeResult) => Promise<void>;
}

/**
 * Sends each skill's first example to every agent.
 *
 * @throws the signal's reason when it is aborted
 */
export async function smokeAgents(
  references: readonly string[],
  { open, concurrency, timeoutMs, signal, onResult }: SmokeOptions,
): Promise<void> {
  const work = new WorkQueue(concurrency, signal);
  for (const reference of references) {
    work.add(async () => {
      const opened = await tryOpen(reference, open, signal);
      if (!("agent" in opened)) return await onResult(opened.result);
      const { agent } = opened;
      const { skills } = agent.card;
      if (skills.length === 0)
        return await onResult(unopened(reference, "skipped", "its card lists no skills"));
      // Before further agents: results come early, and few connections are open at a time.
      for (const skill of skills.toReversed()) {
        work.addFirst(async () => onResult(await smokeSkill(reference, agent, skill, { timeoutMs, signal })));
      }
    });
  }
  await work.done();
}

async function smokeSkill(
  reference: string,
  agent: AgentClient,
  skill: AgentSkill,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<SmokeResult> {
  const { task, canceled: _, ...run } = await runExample(agent, skill, options);
  const isAnnounced = skill.tags.includes(expectedFailureTag);
  const isUnexpected = isAnnounced && isAlive(run.outcome);
  return {
    agent: reference,
    ...run,
    ...(isUnexpected ? { sentence: `its tag ${expectedFailureTag} announces a failure` } : {}),
    taskId: task?.id,
    ok: run.outcome === "skipped" || (isAnnounced ? isRefusal(run.outcome) : isAlive(run.outcome)),
  };
}

async function tryOpen(
  reference: string,
  open: (reference: string) => Promise<AgentClient>,
  signal: AbortSignal,
): Promise<{ readonly agent: AgentClient } | { readonly result: SmokeResult }> {
  try {
    return { agent: await open(reference) };
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = await describeFailure(error, { hasCredentials: false });
    return { result: { ...unopened(reference, "error", message), reason: code } };
  }
}

function unopened(agent: string, outcome: "error" | "skipped", sentence: string): SmokeResult {
  return {
    agent,
    skill: undefined,
    example: undefined,
    outcome,
    sentence,
    reason: undefined,
    taskId: undefined,
    ms: 0,
    ok: outcome === "skipped",
  };
}

/** Runs what is added, so many at a time; the first that throws ends it all. */
class WorkQueue {
  readonly #waiting: (() => Promise<void>)[] = [];
  readonly #limit: number;
  readonly #signal: AbortSignal;
  readonly #finished = Promise.withResolvers<void>();
  #running = 0;

  constructor(limit: number, signal: AbortSignal) {
    this.#limit = limit;
    this.#signal = signal;
  }

  add(work: () => Promise<void>): void {
    this.#waiting.push(work);
    this.#next();
  }

  /** Is taken before all that waits. */
  addFirst(work: () => Promise<void>): void {
    this.#waiting.unshift(work);
    this.#next();
  }

  /** Resolves when nothing runs and nothing waits. */
  async done(): Promise<void> {
    this.#next();
    await this.#finished.promise;
  }

  #next(): void {
    if (this.#signal.aborted) this.#finished.reject(this.#signal.reason);
    while (!this.#signal.aborted && this.#running < this.#limit) {
      const work = this.#waiting.shift();
      if (work === undefined) break;
      this.#running++;
      work()
        .catch((error: unknown) => this.#finished.reject(error))
        .finally(() => {
          this.#running--;
          this.#next();
        });
    }
    if (this.#running === 0 && this.#waiting.length === 0) this.#finished.resolve();
  }
}
