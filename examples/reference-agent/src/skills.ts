import type { SkillDefinition, Turn, TurnExecutor } from "@a2a-connect/server";
import {
  type Command,
  type CommandSyntax,
  type CommonEvent,
  type CommonTools,
  type Events,
  echo,
  findCommand,
  firstText,
  runCommand,
} from "./command.ts";
import { createDurableCommands, type SideEffect } from "./durable-commands.ts";
import { durableRows, findTckRow, type TckRows, turnRows } from "./tck-rows.ts";
import { restartingCommands, turnCommands } from "./turn-commands.ts";

const turns = {
  id: "commands",
  name: "Commands",
  description:
    "Does in one turn what the text says; `npm start -- --help` lists what it knows, anything else is echoed. " +
    "A crash ends its task: FAILED, with reason `interrupted`.",
  tags: ["reference", "testing"],
  examples: ["task hello", "echo hello", "turn slow"],
} satisfies SkillDefinition;

const durable = {
  id: "durable-commands",
  name: "Durable commands",
  description: "Streams, asks, sleeps, does steps. A crash does not show in its tasks: they go on.",
  tags: ["reference", "testing", "durable"],
  examples: ["tour", "ask What is your name?", "stream 50 200", "steps 5 1000", "crash"],
} satisfies SkillDefinition;

const restarting = {
  id: "restarting-commands",
  name: "Restarting commands",
  description: "Streams slowly, in one turn. A crash makes the turn begin again, its artifact included.",
  tags: ["reference", "testing"],
  examples: ["turn-restart slow"],
} satisfies SkillDefinition;

/** A skill's commands, for those who do not run them. */
export interface CommandList {
  readonly skill: string;
  /** What becomes of its tasks in a crash. */
  readonly afterCrash: string;
  readonly commands: readonly CommandSyntax[];
}

/** All commands that there are. */
export const commandLists: readonly CommandList[] = [
  { skill: turns.id, afterCrash: "a crash ends the task, FAILED", commands: turnCommands },
  { skill: durable.id, afterCrash: "a crash does not show", commands: createDurableCommands(() => {}) },
  {
    skill: restarting.id,
    afterCrash: "a crash makes the turn begin again",
    commands: restartingCommands,
  },
];

/** The skill for a message whose sender has named none. */
export function route(message: Turn["message"]): string {
  if (findTckRow(turnRows, message.messageId) !== undefined) {
    return turns.id;
  }
  return findTckRow(durableRows, message.messageId) === undefined
    ? (findSkill(firstText(message)) ?? turns.id)
    : durable.id;
}

/** The code of the skill that has none of its own: the agent's. */
export const executeTurn: TurnExecutor = executeBy(turns.id, turnCommands, turnRows);

/** All skills of the agent. */
export function createSkills(sideEffect: SideEffect = () => {}): readonly SkillDefinition[] {
  return [
    turns,
    {
      ...durable,
      durable: true,
      // A second answer to a question finds the task at work: it is refused, because nobody would read it.
      whileWorking: "refuse",
      execute: executeBy(durable.id, createDurableCommands(sideEffect), durableRows),
    },
    { ...restarting, recovery: "restart", execute: executeBy(restarting.id, restartingCommands, {}) },
  ];
}

/** Does what the message says: by its id, by its text; an echo where neither means anything. */
function executeBy<Tools extends CommonTools, Event>(
  id: string,
  commands: readonly Command<Tools, Event>[],
  rows: TckRows<(tools: Tools) => Events<Event>>,
): (tools: Tools) => Events<Event | CommonEvent> {
  return (tools) => {
    const row = findTckRow(rows, tools.message.messageId);
    if (row !== undefined) {
      return row(tools);
    }
    const words = firstText(tools.message);
    const command = findCommand(commands, words);
    if (command !== undefined) {
      return runCommand(command, tools);
    }
    const other = findSkill(words);
    return other === undefined
      ? echo(tools)
      : [tools.reject(`That is for the skill ${other}, not for ${id}.`, { reason: "other-skill" })];
  };
}

function findSkill(words: string): string | undefined {
  return commandLists.find(({ commands }) => findCommand(commands, words) !== undefined)?.skill;
}
