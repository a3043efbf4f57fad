import type { AgentClient } from "@a2a-connect/client";
import { formatMessage, untilAborted } from "@a2a-connect/core/internal";
import { AgentCardSchema } from "@a2a-connect/proto";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { describeFailure } from "../failures.ts";
import { objectOf } from "../json.ts";
import type { Output } from "../output.ts";
import { readTargets } from "./read-targets.ts";
import { type ExampleRun, expectedFailureTag, isAlive, isRefusal, runExample } from "./run-example.ts";

/** One line of the report: a skill that was tried, the operations of an agent, or an agent that could not be opened. */
export interface SmokeResult extends Omit<ExampleRun, "skill" | "outcome" | "task" | "canceled"> {
  readonly agent: string;
  /** Undefined for what is about the agent as a whole. */
  readonly skill: string | undefined;
  /** `operations`: get, list, cancel and subscribe do what they should. */
  readonly outcome: ExampleRun["outcome"] | "operations";
  readonly taskId: string | undefined;
  readonly ok: boolean;
}

/** Tries all skills of all agents, and their operations, a line each, and exits with 1 when one of them does not work. */
export async function runSmoke(
  context: CommandContext,
  given: readonly string[],
  { concurrency, skillTimeout: timeoutMs }: { readonly concurrency: number; readonly skillTimeout: number },
): Promise<void> {
  const { output, settings, io, signal } = context;
  context.needReader();
  const own = given.length === 0 && settings.agentCard !== undefined ? [settings.agentCard] : given;
  const targets = await readTargets(own, io);
  if (targets.length > 1 && (settings.bearer !== undefined || settings.apiKey !== undefined)) {
    throw usageError(
      "a2a smoke does not send one credential to several agents",
      "list the agents in a2a.config.yaml, each with its own auth, and unset A2ACLI_BEARER and A2ACLI_API_KEY",
    );
  }
  const open = (reference: string): Promise<AgentClient> => {
    const isTyped = given.includes(reference);
    const isOwn = reference === settings.agentCard && !isTyped;
    return context.openAgent(isOwn ? {} : { reference, isListed: !isTyped });
  };
  const results: SmokeResult[] = [];
  const tell = async (result: SmokeResult): Promise<void> => {
    results.push(result);
    await printResult(output, result);
  };
  const smokeAgent = async (reference: string, addFirst: (more: readonly Work[]) => void): Promise<void> => {
    const startedAt = performance.now();
    const tellAll = (outcome: SmokeResult["outcome"], sentence?: string, reason?: string): Promise<void> => {
      const ms = Math.round(performance.now() - startedAt);
      const rest = { skill: undefined, example: undefined, taskId: undefined, ms };
      return tell({ agent: reference, ...rest, outcome, sentence, reason, ok: outcome !== "error" });
    };
    let agent: AgentClient;
    try {
      agent = await open(reference);
    } catch (error) {
      signal.throwIfAborted();
      const { code, message } = await describeFailure(error, { hasCredentials: false });
      return await tellAll("error", message, code);
    }
    await import("@a2a-connect/conformance"); // to load it is none of the agent's time
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const broken = await untilAborted(findBrokenOperation(agent), limit).catch(() => {
      signal.throwIfAborted();
      return `get, list, cancel and subscribe took longer than ${timeoutMs} ms`;
    });
    await tellAll(broken === undefined ? "operations" : "error", broken);
    const { skills } = agent.card;
    if (skills.length === 0) return await tellAll("skipped", "its card lists no skills");
    // Before further agents: results come early, and few connections are open at a time.
    addFirst(
      skills.map((skill) => async () => {
        const run = await runExample(agent, skill, { timeoutMs, signal });
        await tell(judge(reference, run, skill.tags.includes(expectedFailureTag)));
      }),
    );
  };
  await runAll(
    targets.map((reference) => (addFirst) => smokeAgent(reference, addFirst)),
    { concurrency, signal },
  );
  if (results.some(({ ok }) => !ok)) context.exitWith(1);
  await printSummary(output, results);
}

function judge(agent: string, { task, canceled: _, ...run }: ExampleRun, isAnnounced: boolean): SmokeResult {
  const { outcome, sentence } = run;
  const isUnexpected = isAnnounced && isAlive(outcome);
  return {
    ...{ agent, ...run, taskId: task?.id },
    sentence: isUnexpected ? `it has the tag ${expectedFailureTag}, but it did not fail` : sentence,
    ok: outcome === "skipped" || (isAnnounced ? isRefusal(outcome) : isAlive(outcome)),
  };
}

/** A piece of work, which may add more that is taken before all that waits. */
type Work = (addFirst: (more: readonly Work[]) => void) => Promise<void>;

/** Runs all work, so many at a time; the first that rejects ends it. @throws the signal's reason */
async function runAll(
  work: readonly Work[],
  { concurrency, signal }: { readonly concurrency: number; readonly signal: AbortSignal },
): Promise<void> {
  const waiting = [...work];
  const running = new Set<Promise<void>>();
  while (waiting.length + running.size > 0) {
    signal.throwIfAborted();
    const next = running.size < concurrency ? waiting.shift() : undefined;
    if (next === undefined) {
      await Promise.race(running);
      continue;
    }
    const one = next((more) => waiting.unshift(...more)).finally(() => running.delete(one));
    one.catch(() => {}); // the race tells of it
    running.add(one);
  }
}

async function printResult(output: Output, result: SmokeResult): Promise<void> {
  await output.event(result);
  const { ok, agent, skill, outcome, ms, reason, sentence } = result;
  const label = ok ? (outcome === "skipped" ? "Skipped" : "OK") : "Failed";
  const why =
    ok && outcome !== "skipped" ? "" : [reason, sentence].filter((each) => each !== undefined).join(": ");
  const line = [agent, skill ?? "-", outcome, `${ms}ms`, why].filter((each) => each !== "").join("  ");
  await output.field(label, line.slice(0, 400));
}

async function printSummary(output: Output, results: readonly SmokeResult[]): Promise<void> {
  const failed = results.filter(({ ok }) => !ok).length;
  const skipped = results.filter(({ outcome }) => outcome === "skipped").length;
  const summary = { ok: results.length - failed - skipped, skipped, failed };
  await output.document(output.streaming ? { summary } : { results, summary });
  await output.field("Summary", `${summary.ok} ok, ${skipped} skipped, ${failed} failed`);
}

/** Requirements whose scenarios show get and cancel, subscribe, and list; send and stream are shown by the examples. */
const tried: ReadonlySet<string> = new Set(["A-30", "A-35", "A-43"]);

/**
 * The first thing that is not as it should be by the conformance kit's scenarios about reading operations, over the connection of a
 * client, with its credentials. What would send a message, or needs bytes of its own, does not apply.
 */
async function findBrokenOperation(agent: AgentClient): Promise<string | undefined> {
  const { allScenarios, findCardFacts, NotApplicable } = await import("@a2a-connect/conformance");
  const facts = findCardFacts(objectOf(formatMessage(AgentCardSchema, agent.card)));
  const refuse = (): never => {
    throw new NotApplicable("a2a smoke tries only operations that read");
  };
  const client = { ...agent.rpc, sendMessage: refuse, sendStreamingMessage: refuse };
  const scenarios = Object.values(allScenarios).flatMap((group) => group.scenarios);
  for (const { ids, title, needs, when, run } of scenarios) {
    if (needs !== "any" || !tried.has(ids[0] ?? "") || !when.every((fact) => facts.has(fact))) continue;
    const stage = {
      ...({ wire: "jsonrpc", client, spec: "1.0.1", note: () => {} } as const),
      get target() {
        return refuse();
      },
    };
    try {
      await run(stage);
    } catch (error) {
      if (!(error instanceof NotApplicable))
        return `failed: "${title}": ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return undefined;
}
