import type { ChatFlags } from "../chat/start-chat.ts";
import type { AddCommand } from "../command.ts";
import type { CommandContext } from "../command-context.ts";

/** `a2a chat`: a conversation, turn by turn (a2a-cli §7.1). */
export const addChat: AddCommand = (program, host) => {
  const command = program
    .command("chat")
    .description("Talk with an agent, turn by turn: answers, progress, artifacts as they come")
    .option("--skill <id>", "the skill that is to do it (default: the agent's choice)");
  host.agentOptions(command);
  host.action(command, async (context: CommandContext, flags: ChatFlags) => {
    const { startChat } = await import("../chat/start-chat.ts");
    await startChat(context, flags);
  });
};
