import type { Command } from "commander";
import type { CommandContext } from "./command-context.ts";

/** What a command file is given to add itself to the program. */
export interface CommandHost {
  /** Adds the options of every command that talks to an agent (a2a-cli §7.2). */
  agentOptions(command: Command): Command;
  /** Adds the same to a command that fetches a card and no more: help shows those that make sense there. */
  cardOptions(command: Command): Command;
  /**
   * Makes `run` the action of a command: resolves settings, prints errors in the chosen format, sets the exit code,
   * closes what was opened. After the context come the arguments of a commander action: positional arguments, the
   * command's own options, the command.
   */
  action<Args extends unknown[]>(
    command: Command,
    run: (context: CommandContext, ...args: Args) => Promise<void>,
  ): void;
}

/**
 * One file of `commands/`: adds one command, or one group of them. All of these files are loaded whenever the command
 * starts, so what costs time to load (client, core, proto, server, yaml) is imported within the action.
 */
export type AddCommand = (program: Command, host: CommandHost) => void;
