import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import type { Output } from "../output.ts";
import { readTargets } from "./read-targets.ts";
import { type SmokeResult, smokeAgents } from "./smoke-agents.ts";

/** The options that `smoke` has beside those of every command that talks to an agent. */
export interface SmokeFlags {
  /** Skills at a time. */
  readonly concurrency: number;
  /** For each skill, in milliseconds. */
  readonly skillTimeout: number;
}

/** Tries all skills of all agents, a line each, and exits with 1 when one of them does not work. */
export async function runSmoke(
  context: CommandContext,
  given: readonly string[],
  flags: SmokeFlags,
): Promise<void> {
  const { output, settings, io, signal } = context;
  context.needReader();
  const own = given.length === 0 && settings.agentCard !== undefined ? [settings.agentCard] : given;
  const targets = await readTargets(own, io);
  if (targets.length > 1 && (settings.bearer !== undefined || settings.apiKey !== undefined)) {
    throw new CliError("A2ACLI_ERR_USAGE", "one credential is not sent to several agents", {
      hint: "Name them in a2a.config.yaml, each with auth of its own; unset A2ACLI_BEARER and A2ACLI_API_KEY.",
    });
  }
  const results: SmokeResult[] = [];
  await smokeAgents(targets, {
    open: (reference) =>
      context.openAgent(
        reference === settings.agentCard && !given.includes(reference)
          ? {}
          : { reference, isListed: !given.includes(reference) },
      ),
    concurrency: flags.concurrency,
    timeoutMs: flags.skillTimeout,
    signal,
    async onResult(result) {
      results.push(result);
      await printResult(output, result);
    },
  });
  if (results.some(({ ok }) => !ok)) context.exitWith(1);
  await printSummary(output, results);
}

async function printResult(output: Output, result: SmokeResult): Promise<void> {
  if (output.format === "json") {
    if (output.streaming) await output.document(result);
    return;
  }
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
  if (output.format === "json") {
    return await output.document(output.streaming ? { summary } : { results, summary });
  }
  await output.field("Summary", `${summary.ok} ok, ${skipped} skipped, ${failed} failed`);
}
