/** How a block of a page is run. */
export type BlockKind =
  /** One command after the other, in the page's own shell. */
  | "console"
  /** In another terminal, up to the end of the page. */
  | "console server"
  /** In another terminal, beside the blocks behind it; ends by itself. */
  | "console meanwhile"
  /** Ends with a Ctrl-C, as soon as it says that it may. */
  | "console interrupted"
  /** At a terminal with a keyboard. What is typed stands behind the prompts. */
  | "console keyboard";

/** A command of a block, and what the page says that it prints. */
export interface RecordedCommand {
  /** As it is typed; lines after the first one are continuations. */
  readonly text: string;
  readonly output: string;
}

/** A fenced block of a page. */
export interface Block {
  readonly kind: BlockKind;
  /** Of the fence, from 1. */
  readonly line: number;
  readonly commands: readonly RecordedCommand[];
}

/** A page, as text and blocks in turns. */
export type Page = readonly (string | Block)[];

const kinds: ReadonlySet<string> = new Set<BlockKind>([
  "console",
  "console server",
  "console meanwhile",
  "console interrupted",
  "console keyboard",
]);

/** Takes a page apart. @throws Error for a block that nobody knows how to run, or that begins with no command */
export function parsePage(text: string): Page {
  const page: (string | Block)[] = [];
  let end = 0;
  for (const match of text.matchAll(/^```(console.*)\n([\s\S]*?)^```$/gm)) {
    const [whole, kind = "", content = ""] = match;
    const line = text.slice(0, match.index).split("\n").length;
    if (!isKind(kind)) {
      throw new Error(`line ${line}: there are no blocks of the kind ${kind}`);
    }
    page.push(text.slice(end, match.index), { kind, line, commands: parseCommands(content, line) });
    end = match.index + whole.length;
  }
  page.push(text.slice(end));
  return page;
}

function isKind(kind: string): kind is BlockKind {
  return kinds.has(kind);
}

function parseCommands(content: string, line: number): RecordedCommand[] {
  const commands: { text: string; output: string }[] = [];
  let typing = false;
  for (const row of content.split("\n").slice(0, -1)) {
    const last = commands.at(-1);
    if (row.startsWith("$ ")) {
      commands.push({ text: row.slice(2), output: "" });
      typing = true;
    } else if (last === undefined) {
      throw new Error(`line ${line}: the block begins with no command`);
    } else if (typing && row.startsWith("> ")) {
      last.text += `\n${row.slice(2)}`;
    } else {
      last.output += `${row}\n`;
      typing = false;
    }
  }
  return commands;
}

/** Puts a page together again. */
export function formatPage(page: Page): string {
  return page.map((piece) => (typeof piece === "string" ? piece : formatBlock(piece))).join("");
}

function formatBlock({ kind, commands }: Block): string {
  const content = commands.map(({ text, output }) => `$ ${text.replaceAll("\n", "\n> ")}\n${output}`);
  return `\`\`\`${kind}\n${content.join("")}\`\`\``;
}
