import { type AddCommand, addAgentOptions } from "../command.ts";

/** `a2a chat`: a conversation, turn by turn (a2a-cli §7.1). */
export const addChat: AddCommand = (program, setAction) => {
  const command = program
    .command("chat")
    .description("Talk with an agent, turn by turn: answers, progress, artifacts as they come")
    .option("--skill <id>", "the skill that is to do it (default: the agent's choice)");
  addAgentOptions(command);
  setAction(command, async () => (await import("../chat/start-chat.ts")).startChat);
};
