export type Entry =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "command"; readonly name: SlashCommand; readonly argument: string }
  | { readonly kind: "mistake"; readonly sentence: string };

type SlashCommand = "cancel" | "attach" | "save" | "task" | "new" | "help" | "quit";

/** All commands, in the order of their help. */
const slashCommands: Readonly<Record<SlashCommand, Syntax>> = {
  cancel: { usage: "/cancel", purpose: "cancels the task that runs or waits", argument: "none" },
  attach: { usage: "/attach PATH|URL", purpose: "adds a file to the next message", argument: "required" },
  save: { usage: "/save [DIR]", purpose: "saves the artifacts of the last task", argument: "optional" },
  task: { usage: "/task", purpose: "shows the last task", argument: "none" },
  new: { usage: "/new", purpose: "begins a new conversation", argument: "none" },
  help: { usage: "/help", purpose: "shows this", argument: "none" },
  quit: { usage: "/quit", purpose: "ends the chat; so do Ctrl-C and Ctrl-D", argument: "none" },
};

interface Syntax {
  readonly usage: string;
  readonly purpose: string;
  readonly argument: "none" | "optional" | "required";
}

/** Reads a line. One that begins with two slashes is a message that begins with one. */
export function parseEntry(line: string): Entry {
  const text = line.trim();
  if (!text.startsWith("/") || text.startsWith("//")) {
    return { kind: "message", text: text.startsWith("//") ? text.slice(1) : text };
  }
  const [word = ""] = text.slice(1).split(/\s/, 1);
  const argument = text.slice(1 + word.length).trim();
  if (!isSlashCommand(word)) {
    return { kind: "mistake", sentence: `there is no command /${word}; /help lists the commands` };
  }
  const syntax = slashCommands[word];
  const isMissing = syntax.argument === "required" && argument === "";
  const isTooMuch = syntax.argument === "none" && argument !== "";
  return isMissing || isTooMuch
    ? { kind: "mistake", sentence: `usage: ${syntax.usage} (${syntax.purpose})` }
    : { kind: "command", name: word, argument };
}

export function completeEntry(line: string): string[] {
  return Object.keys(slashCommands)
    .map((name) => `/${name}`)
    .filter((command) => line.startsWith("/") && command.startsWith(line));
}

export function explainCommands(): string[] {
  const syntaxes = Object.values(slashCommands);
  const width = Math.max(...syntaxes.map(({ usage }) => usage.length));
  return syntaxes.map(({ usage, purpose }) => `${usage.padEnd(width)}  ${purpose}`);
}

function isSlashCommand(word: string): word is SlashCommand {
  return Object.hasOwn(slashCommands, word);
}
