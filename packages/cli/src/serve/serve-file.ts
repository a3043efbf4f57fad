import { formatMessage } from "@a2a-connect/core/internal";
import { type ServedAgent, type ServeOptions, serve } from "@a2a-connect/node";
import { AgentCardSchema } from "@a2a-connect/proto";
import type { AgentDefinition } from "@a2a-connect/server";
import type { CommandContext } from "../context.ts";
import { readServerConfig } from "../settings/book.ts";
import { commandLine } from "../task/hints.ts";
import { announce, type SignedPlace } from "./announcement.ts";
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
  const { output } = context;
  if (loaded.kind === "one") {
    const options = toServeOptions(flags, config);
    const start = (log: ServerLog) => serve(loaded.agent, { ...options, ...signing?.options, log });
    return await runServer(context, options.port, start, async (served) => {
      await output.document(formatMessage(AgentCardSchema, served.card));
      await announce(output, [served], {
        commands: commandsToTry(context, served, loaded.agent),
        signing: signing && { ...signing, ...placeOf(served, options) },
      });
    });
  }
  const { agents, options } = toAgentsToServe(loaded.agents, flags, config);
  const [[first, firstAgent] = []] = Object.entries(loaded.agents);
  const start = (log: ServerLog) => serve(agents, { ...options, ...signing?.options, log });
  return await runServer(context, options.port, start, async (served) => {
    const cards = Object.entries(served.agents).map(([name, { card }]) => [
      name,
      formatMessage(AgentCardSchema, card),
    ]);
    await output.document({ agents: Object.fromEntries(cards) });
    const shown = first === undefined ? undefined : served.agents[first]; // what holds for one holds for each
    await announce(output, Object.values(served.agents), {
      catalog: `${served.url}/.well-known/ai-catalog.json`,
      commands: shown && firstAgent ? commandsToTry(context, shown, firstAgent) : [],
      signing: signing && { ...signing, ...placeOf(served, options) },
    });
  });
}

function placeOf(
  { url }: Pick<ServedAgent, "url">,
  { publicUrl, host }: Pick<ServeOptions, "publicUrl" | "host">,
): SignedPlace {
  return { url, publicUrl, host };
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
