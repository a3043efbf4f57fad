import type { AgentClient, ConnectOptions } from "@a2a-connect/client";
import type { AgentSettings } from "./agent/agent-settings.ts";
import type { AgentSituation, FoundCard } from "./agent/open-agent.ts";
import { CredentialPermits, type LocatedAgent, locateAgent } from "./agent/permits.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { createOutput, type Output, type RunOutput } from "./output.ts";
import type { Provenance } from "./settings/provenance.ts";
import { type GivenFlags, resolveSettings, type Settings } from "./settings/resolve.ts";
import { formatDuration } from "./settings/values.ts";

interface OpenAgentOptions extends Partial<ConnectOptions> {
  /** In place of `--agent-card`: for commands that take the agent as an argument. */
  readonly reference?: string | undefined;
  /** Whether the reference stands in a file, and was not typed: then others may have written it. */
  readonly isListed?: boolean;
  /** Keys that have to have signed its card, in place of the one that the settings name. */
  readonly keys?: readonly string[] | undefined;
}

/**
 * What a command's action is given, beside its own arguments and options. What it throws is reported in the chosen format: a
 * CliError with its own exit code, errors of the client by their names.
 */
export interface CommandContext {
  readonly io: CliIo;
  readonly output: Output;
  /** What flags, environment and files say together (spec of the a2a command, §8.3). */
  readonly settings: Settings;
  /** The agent that `--agent-card` names, or an argument, with what `a2a.config.yaml` says about it. */
  locate(reference: string | undefined): Promise<LocatedAgent>;
  /**
   * Its settings without the credentials that it may have only when the user allows it; a warning says which. For a command that
   * goes on without them: `openAgent` asks, or refuses.
   */
  withhold(agent: LocatedAgent): Promise<AgentSettings>;
  /**
   * Connects to the agent that `--agent-card` names (or a name in `a2a.config.yaml`), with its credentials, binding
   * and version. Closed by itself when the command ends. Where a key is known for the agent, its card has to be signed by it.
   */
  openAgent(options?: OpenAgentOptions): Promise<AgentClient>;
  /** The card alone, fetched or read: also one with faults, and that of an agent that cannot be called. */
  receiveCard(reference?: string): Promise<FoundCard>;
  /**
   * Aborted when the user interrupts, or `--timeout` expires; then its reason is a CliError TIMEOUT. What a command throws because of
   * it is reported as that, unless it is a CliError: an interruption ends with the exit code of its signal, 130 or 143.
   */
  readonly signal: AbortSignal;
  /**
   * To be called before anything is printed by a command whose answer is its exit code, or whose output must not be lost: then a
   * reader who goes away makes it fail, where it would have ended with 0.
   */
  needReader(): void;
  /**
   * The exit code of a command that did its job, where it is not 0 (or, after an interruption, not its signal's). To be called before
   * what it is about is printed, because printing may fail.
   */
  exitWith(code: number): void;
}

/** One run of the command: what its action leaves behind for `runCli`. */
export interface CommandRun {
  readonly io: CliIo;
  /** What the user typed, without the command itself. */
  readonly argv: readonly string[];
  settings?: Settings;
  output?: RunOutput;
  exitCode?: number;
  /** Whether output that is not read to its end makes the command fail. */
  needsReader?: boolean;
  /** Aborted when `--timeout` has expired, with the error to report. */
  timeout?: AbortSignal;
}

/** Runs one action with its context: settings resolved, time limited, and closed afterwards what it has opened. */
export async function runAction(
  run: CommandRun,
  flags: GivenFlags,
  act: (context: CommandContext) => Promise<void>,
): Promise<void> {
  const { io } = run;
  const resolved = resolveSettings(flags, io);
  const { settings } = resolved;
  const output = createOutput(io, settings);
  run.settings = settings;
  run.output = output;
  for (const warning of resolved.warnings) await output.warn(warning);
  const timeout = new AbortController();
  run.timeout = timeout.signal;
  using _timer = startTimeout(timeout, settings.timeoutMs);
  const signal = AbortSignal.any([io.interrupted, timeout.signal]);
  const opened: AsyncDisposable[] = [];
  await using _closing = closeLater(opened);
  const permits = new CredentialPermits(io, output, settings.allowedCredentials);
  const originOf = (reference: string | undefined): Provenance =>
    (reference === undefined ? resolved.origins.get("agent-card") : undefined) ?? typed;
  const situationFor = (reference: string | undefined, isListed = false): AgentSituation => ({
    io,
    output,
    resolved,
    reference: reference ?? settings.agentCard,
    referenceOrigin: isListed ? listed : originOf(reference),
    permits,
    signal,
    adopt: (effective) => {
      run.settings = effective;
    },
  });
  await act({
    io,
    output,
    settings,
    signal,
    locate: (reference) => locateAgent(resolved, reference ?? settings.agentCard, originOf(reference), io),
    withhold: (agent) => permits.withhold(agent),
    openAgent: async ({ reference, isListed, ...options } = {}) => {
      const { openAgent } = await import("./agent/open-agent.ts");
      const opening = openAgent(situationFor(reference, isListed), options);
      const agent = await opening.catch((error: unknown) => Promise.reject(whileConnecting(error, io)));
      opened.push(agent);
      return agent;
    },
    receiveCard: async (reference) =>
      (await import("./agent/open-agent.ts")).receiveCard(situationFor(reference)),
    needReader: () => {
      run.needsReader = true;
    },
    exitWith: (code) => {
      run.exitCode = code;
    },
  });
}

/** A reference that stands in a list. */
const listed: Provenance = { source: "found-file", where: "a list of agents" };

const typed: Provenance = { source: "flag", where: "the command line" };

/** Who interrupts wants to know that nothing has begun. */
function whileConnecting(error: unknown, { interrupted }: CliIo): unknown {
  return interrupted.aborted && !(error instanceof CliError)
    ? new CliError("A2ACLI_ERR_INTERNAL", "interrupted while connecting, before any call")
    : error;
}

function startTimeout(controller: AbortController, timeoutMs: number | undefined): Disposable {
  const giveUp = (): void => {
    const message = `gave up after ${formatDuration(timeoutMs ?? 0)} (--timeout)`;
    const hint = "allow more time with --timeout 5m";
    controller.abort(new CliError("A2ACLI_ERR_TIMEOUT", message, { hint }));
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Closes at the end of a scope what was opened in it, the last one first. Node 22 has no `AsyncDisposableStack`. */
export function closeLater(opened: readonly AsyncDisposable[]): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      for (const each of opened.toReversed()) await each[Symbol.asyncDispose]();
    },
  };
}
