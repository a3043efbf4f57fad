import { once } from "node:events";
import type { ServedAgent } from "@a2a-connect/node";
import { createConsoleLog, type OperatorLog } from "@a2a-connect/server/internal";
import { CliError, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { allowTimeToStop } from "../interrupts.ts";
import type { Output } from "../output.ts";

/** How much longer than running work connections may take, and then the process. */
const slackMs = 5_000;

/** How long a server may take to end after it was told to. */
export function longestStopMs(graceMs: number): number {
  return graceMs + 2 * slackMs;
}

/** Where it listens, and how long running work may go on after the first Ctrl-C. */
export interface RunOptions {
  /** The port that is asked for, to name it when it cannot be had. */
  readonly port: number | undefined;
  readonly graceMs: number;
}

/**
 * Serves until the user interrupts or the process is told to end, and closes it in an orderly way. What its
 * executors throw goes to stderr with its stack, for the user who has started it here.
 *
 * @param start puts an agent or several on a port
 * @param announce told once, when everything can be reached
 * @throws CliError when the port or the store's file cannot be had
 */
export async function runServer<Served extends Pick<ServedAgent, "close">>(
  context: CommandContext,
  { port, graceMs }: RunOptions,
  start: (log: OperatorLog) => Promise<Served>,
  announce: (served: Served) => Promise<void>,
): Promise<void> {
  const log = createConsoleLog({ write: (line) => void context.output.note(line).catch(() => {}) });
  const served = await start(log).catch((error: unknown) => {
    throw explainFailure(error, port);
  });
  try {
    await announce(served);
    if (!context.signal.aborted) await once(context.signal, "abort");
  } finally {
    allowTimeToStop(context.signal, longestStopMs(graceMs));
    await served.close({ graceMs, timeoutMs: graceMs + slackMs });
  }
  context.exitWith(0); // being told to stop is how a server ends well
}

/** Says in text where agents are served. */
export async function announceAgents(
  output: Output,
  agents: readonly Pick<ServedAgent, "url" | "card">[],
): Promise<void> {
  for (const { url, card } of agents) {
    await output.field("Agent", card.name);
    await output.field("Agent Card", `${url}/.well-known/agent-card.json`);
  }
}

/** Says in text which commands to try, to be copied, and how it ends. */
export async function offerCommands(output: Output, commands: readonly string[]): Promise<void> {
  await output.block("Commands to try", commands.join("\n"));
  await output.note("Ctrl-C stops it");
}

function explainFailure(error: unknown, port: number | undefined): unknown {
  if (!(error instanceof Error) || !error.message.startsWith("cannot open the task store"))
    return explainListenFailure(error, port);
  const hint = "choose another file with --db, or none with --store memory";
  return new CliError("A2ACLI_ERR_INTERNAL", error.message, { hint, cause: error });
}

/** Puts into words why nothing can listen where `--host` and `--port` say; any other error stays as it is. */
export function explainListenFailure(error: unknown, port: number | undefined): unknown {
  const internal = (problem: string, hint: string): CliError =>
    new CliError("A2ACLI_ERR_INTERNAL", `port ${port} ${problem}`, { hint, cause: error });
  switch (error instanceof Error && "code" in error ? error.code : undefined) {
    case "EADDRINUSE":
      return internal(
        "is in use by another process",
        "choose another with --port; --port 0 takes any free port",
      );
    case "EACCES":
      return internal("needs permission to listen on", "choose 1024 or above with --port");
    case "ENOTFOUND":
    case "EADDRNOTAVAIL":
      return usageError("--host is not a name or address of this machine", undefined, error);
    default:
      return error instanceof Error && error.message.startsWith("the server would listen on")
        ? usageError(error.message, undefined, error)
        : error;
  }
}
