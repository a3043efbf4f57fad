import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { renderEvent, renderTask } from "../render/task.ts";
import { reportTask } from "../task/report.ts";
import { Conversation } from "./conversation.ts";
import { createNoLines, createPipedLines, Keyboard } from "./keyboard.ts";
import { Screen } from "./screen.ts";
import { type ChatView, createTerminalView } from "./terminal-view.ts";

/** What `a2a chat` has beside the options of every command that talks to an agent. */
interface ChatFlags {
  readonly skill?: string;
}

/**
 * A conversation: for a person where keyboard and screen are a terminal, else as text, a line a turn (a2a-cli §11.2).
 *
 * @throws CliError USAGE for `-o json`; in text whatever the first failing turn throws
 */
export async function startChat(context: CommandContext, { skill }: ChatFlags): Promise<void> {
  if (context.output.format === "json") {
    throw usageError(
      "a chat has no -o json",
      "a2a send -o json sends one message, and --context-id goes on with a conversation",
    );
  }
  const { stdin, stdout } = context.io;
  await (stdin.isTTY === true && stdout.isTerminal
    ? chatOnTerminal(context, skill)
    : chatAsText(context, skill));
}

async function chatOnTerminal(context: CommandContext, skill: string | undefined): Promise<void> {
  const { io, signal } = context;
  const columns = (): number => process.stdout.columns || 80;
  const colours = (io.env["NO_COLOR"] ?? "") === "";
  const screen = new Screen(io.stdout, { columns, colours });
  const agent = await context.openAgent();
  using lines = new Keyboard({
    stdin: io.stdin,
    stdout: io.stdout,
    columns,
    signal,
    onTyping: () => void screen.finish().catch(() => {}), // nobody reads any more: the next line ends the chat
  });
  const view = createTerminalView(screen, agent.card);
  await new Conversation({ context, agent, lines, view, skill }).run();
}

async function chatAsText(context: CommandContext, skill: string | undefined): Promise<void> {
  const { io, output, signal } = context;
  const isKeyboard = io.stdin.isTTY === true;
  if (isKeyboard) {
    await output.warn(
      "the standard output is no terminal, so nothing is read from the keyboard; pipe lines in",
    );
  }
  const agent = await context.openAgent();
  using lines = isKeyboard ? createNoLines() : createPipedLines(io.stdin, signal);
  await new Conversation({ context, agent, lines, view: createTextView(context), skill }).run();
}

/**
 * The conversation as fields and blocks, each event as it comes, without control sequences (a2a-cli §11.2). Whoever
 * reads it is no person at a keyboard, so the first failure ends it.
 */
function createTextView(context: CommandContext): ChatView {
  const { output } = context;
  return {
    greet: async () => {},
    event: (event) => renderEvent(output, event),
    settled: async (task) => {
      if (task !== undefined) await reportTask(context, task);
    },
    task: (task) => renderTask(output, task),
    say: (sentence) => output.note(sentence),
    failure: async (error) => {
      throw error;
    },
  };
}
