import { type ServedAgent, type ServedAgents, type ServeOptions, serve } from "@a2a-connect/node";
import type { AgentDefinition } from "@a2a-connect/server";
import type { CommandContext } from "../context.ts";
import { readServerConfig } from "../settings/book.ts";
import { commandLine } from "../task/hints.ts";
import type { SignedPlace } from "./announcement.ts";
import { announce, announceAll } from "./announcement.ts";
import { readCardSigning } from "./card-signing.ts";
import { loadAgents } from "./load-agent.ts";
import { runServer, type ServerLog } from "./run-server.ts";
import { type ServeFlags, toAgentsToServe, toServeOptions } from "./serve-options.ts";

/**
 * Serves the agents of a module until the user interrupts.
 *
 * @throws CliError when the module exports no agent, the configuration is wrong, or the port or a file cannot be had
 */
export async function serveFile(context: CommandContext, file: string, flags: ServeFlags): Promise<void> {
  const loaded = await loadAgents(file, context.io.cwd);
  const config = await readServerConfig(context.io);
  const signing = await readCardSigning(flags, context.io);
  if (loaded.kind === "one") {
    const options = toServeOptions(flags, config);
    const start = (log: ServerLog) => serve(loaded.agent, { ...options, ...signing?.options, log });
    return await runServer(context, options.port, start, (served) =>
      announce(
        context.output,
        served,
        commandsToTry(context, served, loaded.agent),
        signing && { ...signing, ...placeOf(served, options) },
      ),
    );
  }
  const { agents, options } = toAgentsToServe(loaded.agents, flags, config);
  const start = (log: ServerLog) => serve(agents, { ...options, ...signing?.options, log });
  return await runServer(context, options.port, start, (served) =>
    announceAll(
      context.output,
      served,
      commandsForFirst(context, served, loaded.agents),
      signing && { ...signing, ...placeOf(served, options) },
    ),
  );
}

function placeOf(
  { url }: Pick<ServedAgent, "url">,
  { publicUrl, host }: Pick<ServeOptions, "publicUrl" | "host">,
): SignedPlace {
  return { url, publicUrl, host };
}

/** What holds for one agent holds for each. */
function commandsForFirst(
  context: CommandContext,
  { agents }: ServedAgents,
  definitions: Readonly<Record<string, AgentDefinition>>,
): readonly string[] {
  const [first] = Object.entries(definitions);
  const served = first && agents[first[0]];
  return first === undefined || served === undefined ? [] : commandsToTry(context, served, first[1]);
}

function commandsToTry(
  { settings }: CommandContext,
  { url }: Pick<ServedAgent, "url">,
  agent: AgentDefinition,
): readonly string[] {
  const here = { ...settings, agentCard: url };
  const example = agent.card.skills?.[0]?.examples?.[0] ?? "hello";
  return [
    commandLine(here, ["card", "get"], []),
    commandLine(here, ["send"], [example]),
    commandLine(here, ["chat"], []),
    commandLine(here, ["doctor"], []),
  ];
}
