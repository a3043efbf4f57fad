import type { AgentSituation } from "./agent/agent-connection.ts";
import { resolveAgentSettings } from "./agent/agent-settings.ts";
import {
  CredentialPermits,
  findNamer,
  findStrayCredentials,
  type HeldCredential,
  type Provenance,
  sayRefusal,
  withoutCredentials,
} from "./agent/credential-permits.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import type { CommandContext } from "./command-context.ts";
import type { CommandRun } from "./command-run.ts";
import { createOutput } from "./output/create-output.ts";
import { formatDuration } from "./settings/duration.ts";
import { type GivenFlags, resolveSettings } from "./settings/resolve-settings.ts";

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
  for (const warning of resolved.warnings) {
    await output.warn(warning);
  }
  using timer = startTimeout(settings.timeoutMs);
  run.timeout = timer.signal;
  const signal =
    timer.signal === undefined ? io.interrupted : AbortSignal.any([io.interrupted, timer.signal]);
  await using opened = new AsyncDisposableStack();
  const permits = new CredentialPermits(io, output, settings.allowedCredentials);
  const originOf = (reference: string | undefined, isListed = false): Provenance => {
    if (isListed) return { source: "found-file", where: "a list of agents" };
    return (reference === undefined ? resolved.origins.get("agent-card") : undefined) ?? typed;
  };
  const situationFor = (reference: string | undefined, isListed?: boolean): AgentSituation => ({
    io,
    output,
    resolved,
    reference: reference ?? settings.agentCard,
    referenceOrigin: originOf(reference, isListed),
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
    settingsFor: (entry) => resolveAgentSettings(resolved, entry),
    permittedSettings: async (reference, given) => {
      const entry = reference.kind === "url" ? reference.entry : undefined;
      const named = findNamer(reference, originOf(given), io);
      const withheld: HeldCredential[] = [];
      for (const credential of await findStrayCredentials(resolved, entry, named)) {
        if (!(await permits.allows(credential, named))) withheld.push(credential);
      }
      for (const credential of withheld) {
        await output.warn(`${sayRefusal(credential, named)} (--allow-credential ${credential.name})`);
      }
      return withoutCredentials(resolveAgentSettings(resolved, entry), withheld);
    },
    openAgent: async ({ reference, isListed, ...options } = {}) => {
      const { openAgent } = await import("./agent/open-agent.ts");
      const opening = openAgent(situationFor(reference, isListed), options);
      return opened.use(await opening.catch((error: unknown) => Promise.reject(whileConnecting(error, io))));
    },
    receiveCard: async (reference) => {
      const { receiveCard } = await import("./agent/receive-card.ts");
      return await receiveCard(situationFor(reference));
    },
    needReader: () => {
      run.needsReader = true;
    },
    exitWith: (code) => {
      run.exitCode = code;
    },
  });
}

/** A reference that stands among the arguments. */
const typed: Provenance = { source: "flag", where: "the command line" };

/** Who interrupts wants to know that nothing has begun. */
function whileConnecting(error: unknown, { interrupted }: CliIo): unknown {
  return interrupted.aborted && !(error instanceof CliError)
    ? new CliError("A2ACLI_ERR_INTERNAL", "interrupted while connecting: nothing was asked of the agent yet")
    : error;
}

/** `--timeout`, running. */
interface Timeout extends Disposable {
  readonly signal: AbortSignal | undefined;
}

function startTimeout(timeoutMs: number | undefined): Timeout {
  if (timeoutMs === undefined) {
    return { signal: undefined, [Symbol.dispose]: () => {} };
  }
  const controller = new AbortController();
  const timer = setTimeout(() => {
    const message = `gave up after ${formatDuration(timeoutMs)} (--timeout)`;
    controller.abort(
      new CliError("A2ACLI_ERR_TIMEOUT", message, { hint: "give it longer with --timeout 5m" }),
    );
  }, timeoutMs);
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}
