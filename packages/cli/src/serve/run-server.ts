import { once } from "node:events";
import type { ServedAgent } from "@a2a-connect/node";
import { createConsoleLog, type OperatorLog } from "@a2a-connect/server/internal";
import { CliError, codeOf, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { allowTimeToStop } from "../interrupts.ts";
import type { Output } from "../output.ts";

/** How much longer than running work connections may take, and then the process. */
const slackMs = 5_000;

/** How long a server may take to end after it was told to. */
export function longestStopMs(graceMs: number): number {
  return graceMs + 2 * slackMs;
}

/**
 * Serves until the user interrupts or the process is told to end, and closes it in an orderly way. What its
 * executors throw goes to stderr with its stack, for the user who has started it here.
 *
 * @param port the one that is asked for, to name it when it cannot be had
 * @param graceMs how long running work may go on after the first Ctrl-C
 * @param announce told once, when everything can be reached
 */
export async function runServer<Served extends Pick<ServedAgent, "close">>(
  context: CommandContext,
  { port, graceMs }: { readonly port: number | undefined; readonly graceMs: number },
  start: (log: OperatorLog) => Promise<Served>,
  announce: (served: Served) => Promise<void>,
): Promise<void> {
  const log = createConsoleLog({ write: (line) => void context.output.note(line).catch(() => {}) });
  const served = await start(log).catch((error: unknown) => {
    throw explainStart(error, port);
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

export async function announceAgents(
  output: Output,
  agents: readonly Pick<ServedAgent, "url" | "card">[],
): Promise<void> {
  for (const { url, card } of agents) {
    await output.fields({ Agent: card.name, "Agent Card": `${url}/.well-known/agent-card.json` });
  }
}

export async function offerCommands(output: Output, commands: readonly string[]): Promise<void> {
  await output.block("Commands to try", commands.join("\n"));
  await output.note("Ctrl-C stops it");
}

/** Puts into words why a server cannot start where `--host`, `--port` and `--db` say; any other error stays as it is. */
export function explainStart(error: unknown, port: number | undefined): unknown {
  if (!(error instanceof Error)) return error;
  const internal = (message: string, hint: string): CliError =>
    new CliError("A2ACLI_ERR_INTERNAL", message, { hint, cause: error });
  switch (codeOf(error)) {
    case "EADDRINUSE":
      return internal(
        `port ${port} is in use by another process`,
        "choose another with --port; --port 0 takes any free port",
      );
    case "EACCES":
      return internal(`port ${port} needs permission to listen on`, "choose 1024 or above with --port");
    case "ENOTFOUND":
    case "EADDRNOTAVAIL":
      return usageError("--host is not a name or address of this machine", undefined, error);
  }
  if (error.message.startsWith("cannot open the task store")) {
    return internal(error.message, "choose another file with --db, or none with --store memory");
  }
  return /^(?:the server would listen on|a trusted proxy is) /.test(error.message)
    ? usageError(error.message, undefined, error)
    : error;
}
