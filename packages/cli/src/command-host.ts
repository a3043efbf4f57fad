import type { Command } from "commander";
import type { CommandHost } from "./command.ts";
import type { CommandContext } from "./command-context.ts";
import { addAgentOptions, addCardOptions, addGeneralOptions, readGivenFlags } from "./command-options.ts";
import type { CommandRun } from "./command-run.ts";

/** The host of one run. What an action needs is loaded only when it runs, so that `--help` is quick. */
export function createCommandHost(run: CommandRun): CommandHost {
  return {
    agentOptions: addAgentOptions,
    cardOptions: addCardOptions,
    action<Args extends unknown[]>(
      command: Command,
      act: (context: CommandContext, ...args: Args) => Promise<void>,
    ): void {
      addGeneralOptions(command);
      command.action(async (...given: unknown[]) => {
        const { runAction } = await import("./command-action.ts");
        // The arguments are those that the command declares; act says what it expects of them.
        await runAction(run, readGivenFlags(command), (context) => act(context, ...(given as Args)));
      });
    },
  };
}
