import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";
import { addPartOptions } from "../message-parts-flags.ts";
import type { SendFlags } from "../send/send.ts";
import { addExitStateOption } from "../task/options.ts";

/** `a2a send`: starts or continues an interaction (a2a-cli §10.2). */
export const addSend: AddCommand = (program, host) => {
  const command = program
    .command("send")
    .description("Send a message to start or continue an interaction, and wait for what comes of it")
    .argument("[text...]", "the message's first part, in words")
    .option("--skill <id>", "the skill that is to do it (default: the agent's choice)");
  addExitStateOption(addPartOptions(command));
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, words: readonly string[], flags: SendFlags) => {
    const { send } = await import("../send/send.ts");
    await send(context, words, flags);
  });
};
