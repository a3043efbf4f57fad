import { Option } from "commander";
import type { AddCommand } from "../command.ts";
import { addPartOptions } from "../message-parts-flags.ts";
import { addExitStateOption } from "./task.ts";

const skillOption = ["--skill <id>", "the skill to use (default: the agent's choice)"] as const;

/** `a2a send`: starts or continues an interaction (a2a-cli §10.2). */
export const addSend: AddCommand = (program, setAction) => {
  const command = program
    .command("send")
    .description("Send a message to start or continue an interaction, and wait for the result")
    .argument("[text...]", "text of the message's first part")
    .option(...skillOption)
    .addOption(
      new Option("--priority <level>", "which of the agent's waiting tasks starts first").choices([
        "low",
        "normal",
        "high",
      ]),
    )
    .option(
      "--deadline <time>",
      "when the agent cancels a task that has not ended: 2026-01-31T12:00:00Z, or 10m from now on",
    );
  addExitStateOption(addPartOptions(command));
  setAction(command, async () => (await import("../send/send.ts")).send);
};

/** `a2a chat`: a conversation, turn by turn (a2a-cli §7.1). */
export const addChat: AddCommand = (program, setAction) => {
  const command = program
    .command("chat")
    .description("Talk with an agent, turn by turn: answers, progress, artifacts as they come")
    .option(...skillOption);
  setAction(command, async () => (await import("../chat/chat.ts")).startChat);
};
