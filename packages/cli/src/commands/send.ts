import { type AddCommand, addAgentOptions } from "../command.ts";
import { addPartOptions } from "../message-parts-flags.ts";
import { addExitStateOption } from "./task.ts";

/** `a2a send`: starts or continues an interaction (a2a-cli §10.2). */
export const addSend: AddCommand = (program, setAction) => {
  const command = program
    .command("send")
    .description("Send a message to start or continue an interaction, and wait for what comes of it")
    .argument("[text...]", "the message's first part, in words")
    .option("--skill <id>", "the skill that is to do it (default: the agent's choice)");
  addExitStateOption(addPartOptions(command));
  addAgentOptions(command);
  setAction(command, async () => (await import("../send/send.ts")).send);
};
