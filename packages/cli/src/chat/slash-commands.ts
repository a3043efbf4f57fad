export type Entry =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "command"; readonly name: SlashCommand; readonly argument: string }
  | { readonly kind: "mistake"; readonly sentence: string };

type SlashCommand = "cancel" | "attach" | "save" | "task" | "new" | "help" | "quit";

/** All commands, in the order of their help, with their argument; one in brackets may be left out. */
const slashCommands: Readonly<Record<SlashCommand, readonly [usage: string, purpose: string]>> = {
  cancel: ["/cancel", "cancels the task that runs or waits"],
  attach: ["/attach PATH|URL", "adds a file to the next message"],
  save: ["/save [DIR]", "saves the artifacts of the last task in DIR, or in a new one"],
  task: ["/task", "shows the last task"],
  new: ["/new", "begins a new conversation"],
  help: ["/help", "shows this"],
  quit: ["/quit", "ends the chat; so do Ctrl-C and Ctrl-D"],
};

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
  const [usage, purpose] = slashCommands[word];
  const fits = usage.includes("[") || usage.includes(" ") === (argument !== "");
  return fits
    ? { kind: "command", name: word, argument }
    : { kind: "mistake", sentence: `usage: ${usage} (${purpose})` };
}

export function completeEntry(line: string): string[] {
  return Object.keys(slashCommands)
    .map((name) => `/${name}`)
    .filter((command) => line.startsWith("/") && command.startsWith(line));
}

export function explainCommands(): string[] {
  const syntaxes = Object.values(slashCommands);
  const width = Math.max(...syntaxes.map(([usage]) => usage.length));
  return syntaxes.map(([usage, purpose]) => `${usage.padEnd(width)}  ${purpose}`);
}

function isSlashCommand(word: string): word is SlashCommand {
  return Object.hasOwn(slashCommands, word);
}
