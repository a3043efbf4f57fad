import { shellWords } from "../../packages/cli/test-support/fields.ts";
import { startOnTerminal } from "../../packages/cli/test-support/pseudo-terminal.ts";
import { showOnTerminal } from "../../packages/cli/test-support/terminal-model.ts";
import type { Block, Page, RecordedCommand } from "./page.ts";
import { type Shell, type Surroundings, startShell, startTerminal, type Terminal } from "./shell.ts";
import { StandIns } from "./stand-ins.ts";

/** One run of a page. */
interface Recording {
  readonly surroundings: Surroundings;
  readonly shell: Shell;
  readonly standIns: StandIns;
  readonly open: AsyncDisposableStack;
  /** Id of the task that was printed last, for `{task}`. */
  lastTask: string | undefined;
}

/** A block whose commands have ended, or end later. */
type Recorded = Block | (() => Promise<Block>);

/**
 * Runs every command of a page, in order, and gives the page with what they have printed now.
 *
 * @param servers commands of servers that the page takes for granted
 * @throws Error naming the line of the block that could not be run
 */
export async function recordPage(
  page: Page,
  surroundings: Surroundings,
  servers: readonly string[] = [],
): Promise<Page> {
  await using open = new AsyncDisposableStack();
  const standIns = new StandIns();
  standIns.add(surroundings.cwd, "/home/you");
  standIns.add("a2a conformance --run-timeout 10m", "a2a conformance"); // its minute is too short for a machine that has other work
  const shell = open.use(startShell(surroundings));
  const recording: Recording = { surroundings, shell, standIns, open, lastTask: undefined };
  for (const command of servers) {
    await startServer(recording, command);
  }
  const pieces: (string | Recorded)[] = [];
  for (const piece of page) {
    pieces.push(typeof piece === "string" ? piece : await recordBlock(recording, piece));
  }
  return await Promise.all(pieces.map((piece) => (typeof piece === "function" ? piece() : piece)));
}

async function recordBlock(recording: Recording, block: Block): Promise<Recorded> {
  try {
    switch (block.kind) {
      case "console":
        return await recordCommands(recording, block);
      case "console server":
        return await recordServer(recording, block);
      case "console meanwhile":
        return await recordBesides(recording, block);
      case "console interrupted":
        return await recordInterrupted(recording, block);
      case "console keyboard":
        return await recordKeyboard(recording, block);
    }
  } catch (error) {
    throw new Error(`line ${block.line}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

async function recordCommands(recording: Recording, block: Block): Promise<Block> {
  const commands: RecordedCommand[] = [];
  for (const { text: written } of block.commands) {
    const text = fillIn(recording, written);
    const printed = await recording.shell.run(recording.standIns.mean(text));
    const named = [...printed.matchAll(/^Task: (\S+)$|"task":\s*\{\s*"id":\s*"([^"]+)"/gm)].at(-1);
    recording.lastTask = named?.[1] ?? named?.[2] ?? recording.lastTask;
    commands.push({ text, output: recording.standIns.show(text, printed.replaceAll(announcement, "")) });
  }
  return { ...block, commands };
}

/** Stands there only when the machine was slow; where it is meant to be, the block is an interrupted one. */
const announcement = /^task \S+ is \S+; Ctrl-C detaches, and the task goes on\n/gm;

/** Stays until the page's end. */
async function recordServer(recording: Recording, block: Block): Promise<Block> {
  const [{ text, output }] = only(block);
  const terminal = await startServer(recording, text, /localhost:(\d+)/.exec(output)?.[1]);
  return { ...block, commands: [{ text, output: recording.standIns.show(text, terminal.printed) }] };
}

/** It listens on a port of its own, and the page shows the one that it has had there, or the usual one. */
async function startServer(recording: Recording, command: string, shown?: string): Promise<Terminal> {
  const { terminal } = startBeside(recording, `${command} --port 0`);
  await terminal.until(/Ctrl-C stops it\n/);
  const [, port = ""] = /^Agent Card: http:\/\/localhost:(\d+)\//m.exec(terminal.printed) ?? [];
  const usual = shown ?? (command.includes("demo-server") ? 4100 : 4000);
  for (const name of ["localhost:", "Port "]) {
    recording.standIns.add(`${name}${port}`, `${name}${usual}`);
  }
  return terminal;
}

async function recordBesides(recording: Recording, block: Block): Promise<() => Promise<Block>> {
  const [{ text: written }] = only(block);
  const { text, terminal } = startBeside(recording, written);
  await terminal.until(/registered for task .*\n/);
  return async () => {
    await terminal.ended;
    return { ...block, commands: [{ text, output: recording.standIns.show(text, terminal.printed) }] };
  };
}

async function recordInterrupted(recording: Recording, block: Block): Promise<Block> {
  const [{ text: written }] = only(block);
  const surroundings = await recording.shell.surroundings(); // it is the same terminal
  const { text, terminal } = startBeside({ ...recording, surroundings }, written);
  await terminal.until(/Ctrl-C .*\n/);
  const before = terminal.printed;
  terminal.interrupt();
  await terminal.ended;
  const output = `${before}^C\n${terminal.printed.slice(before.length)}`;
  return { ...block, commands: [{ text, output: recording.standIns.show(text, output) }] };
}

function startBeside(recording: Recording, written: string): { text: string; terminal: Terminal } {
  const text = fillIn(recording, written);
  const terminal = startTerminal(recording.standIns.mean(text), recording.surroundings);
  recording.open.use(terminal);
  return { text, terminal };
}

/** Types what the page has behind its prompts, and Ctrl-D at the end. */
async function recordKeyboard(recording: Recording, block: Block): Promise<Block> {
  const [{ text, output }] = only(block);
  const [, ...argv] = shellWords(recording.standIns.mean(text));
  await using terminal = startOnTerminal(argv, { columns: 80, cwd: recording.surroundings.cwd });
  for (const [, prompt = "", typed = ""] of output.matchAll(/^(you|answer) › (.+)$/gm)) {
    await terminal.answer(`${prompt} › `, `${typed}\r`);
  }
  await terminal.answer("you › ", "\u0004");
  await terminal.exitCode;
  const shown = `${showOnTerminal(terminal.sent, 80).join("\n")}\n`;
  return { ...block, commands: [{ text, output: recording.standIns.show(text, shown) }] };
}

function fillIn({ lastTask, standIns }: Recording, text: string): string {
  return text.replaceAll("{task}", lastTask === undefined ? "{task}" : standIns.of(lastTask));
}

function only({ kind, commands }: Block): readonly [RecordedCommand] {
  const [command, ...more] = commands;
  if (command === undefined || more.length > 0) {
    throw new Error(`a block of the kind ${kind} has one command`);
  }
  return [command];
}
