import type { CommandContext } from "../command-context.ts";
import { readServerConfig } from "../settings/server-config.ts";
import { commandLine } from "../task/hints.ts";
import { announce } from "./announcement.ts";
import { loadAgent } from "./load-agent.ts";
import { runServer } from "./run-server.ts";
import { type ServeFlags, toServeOptions } from "./serve-options.ts";

/**
 * Serves the agent of a module until the user interrupts.
 *
 * @throws CliError when the module exports no agent, the configuration is wrong, or the port or file cannot be had
 */
export async function serveFile(context: CommandContext, file: string, flags: ServeFlags): Promise<void> {
  const { output, settings, io } = context;
  const agent = await loadAgent(file, io.cwd);
  const options = toServeOptions(flags, await readServerConfig(io));
  await runServer(context, agent, options, (served) => {
    const here = { ...settings, agentCard: served.url };
    const example = agent.card.skills?.[0]?.examples?.[0] ?? "hello";
    return announce(output, served, [
      commandLine(here, ["card", "get"], []),
      commandLine(here, ["send"], [example]),
      commandLine(here, ["chat"], []),
      commandLine(here, ["doctor"], []),
    ]);
  });
}
