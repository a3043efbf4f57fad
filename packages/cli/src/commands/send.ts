import { type Command, Option } from "commander";
import type { AddCommand } from "../command.ts";
import type { GivenFlag } from "../message-parts.ts";
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
      new Option("--priority <level>", "which of your tasks that wait at the agent starts first").choices([
        "low",
        "normal",
        "high",
      ]),
    )
    .option("--deadline <time>", "when the agent cancels an unfinished task: 2026-01-31T12:00:00Z, or 10m");
  addExitStateOption(addPartOptions(command));
  setAction(command, async () => (await import("../send/send.ts")).send);
};

/** Adds `--text`, `--file`, `--data` and `--media-type`, each as often as wanted (a2a-cli §10.2). */
export function addPartOptions(command: Command): Command {
  const given: GivenFlag[] = [];
  const collect = (flag: GivenFlag["flag"]) => (value: string) => {
    given.push({ flag, value });
    return given;
  };
  return command
    .option("--text <string>", "a part of text; repeatable, in the order of the flags", collect("text"))
    .option(
      "--file <path|url>",
      "a part with a file's bytes, or a URL for the agent to fetch",
      collect("file"),
    )
    .option("--data <path|->", "a part of JSON, from a file or the standard input", collect("data"))
    .option("--media-type <type>", "type of the part before it (default: inferred)", collect("media-type"));
}

/** `a2a chat`: a conversation, turn by turn (a2a-cli §7.1). */
export const addChat: AddCommand = (program, setAction) => {
  const command = program
    .command("chat")
    .description("Talk with an agent, turn by turn: answers, progress, artifacts as they come")
    .option(...skillOption);
  setAction(command, async () => (await import("../chat/chat.ts")).startChat);
};
