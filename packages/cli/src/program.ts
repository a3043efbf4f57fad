import { readFileSync } from "node:fs";
import { Command } from "commander";
import type { AddCommand } from "./command.ts";
import { createHelpConfiguration } from "./command-help.ts";
import { createCommandHost } from "./command-host.ts";
import { addAgentOptions } from "./command-options.ts";
import type { CommandRun } from "./command-run.ts";
import { addCard } from "./commands/card.ts";
import { addChat } from "./commands/chat.ts";
import { addCompletion } from "./commands/completion.ts";
import { addConfig } from "./commands/config.ts";
import { addDemoServer } from "./commands/demo-server.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addHelp } from "./commands/help.ts";
import { addKeys } from "./commands/keys.ts";
import { addNew } from "./commands/new.ts";
import { addSend } from "./commands/send.ts";
import { addServe } from "./commands/serve.ts";
import { addSmoke } from "./commands/smoke.ts";
import { addTask } from "./commands/task.ts";

/** All commands, in the order of help. */
const commands: readonly AddCommand[] = [
  addCard,
  addSend,
  addTask,
  addChat,
  addServe,
  addNew,
  addDemoServer,
  addDoctor,
  addSmoke,
  addKeys,
  addConfig,
  addCompletion,
  addHelp,
];

/**
 * The `a2a` command. Errors are thrown as CommanderErrors and not printed; `print` gets help and version.
 */
export function createProgram(run: CommandRun, print: (text: string) => void): Command {
  const program = new Command("a2a")
    .description("Talk to A2A agents, serve them, examine them.")
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: () => {}, outputError: () => {} })
    .configureHelp(createHelpConfiguration(run.io))
    .enablePositionalOptions()
    .helpCommand(false)
    .version(readVersion(), "-v, --version", "print the version and exit")
    .helpOption("-h, --help", "show usage and exit");
  addAgentOptions(program);
  const host = createCommandHost(run);
  for (const add of commands) {
    add(program, host);
  }
  return program;
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string; // our own package.json
  };
  return version;
}
