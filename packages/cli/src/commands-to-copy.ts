import type { Settings } from "./settings/resolve.ts";

// Commands for the same agent, for people to copy.

export function answerCommand(settings: Settings, taskId: string): string {
  return `${commandLine(settings, ["send"], ["--task-id", taskId])} "<reply>"`;
}

export function waitCommand(settings: Settings, taskId: string): string {
  return commandLine(settings, ["task", "get"], ["--wait", ...positional(taskId)]);
}

/** The command that shows what became of a message that was not answered. */
export function lookCommand(settings: Settings): string {
  const { taskId, contextId } = settings;
  return taskId === undefined
    ? commandLine(settings, ["task", "list"], contextId === undefined ? [] : ["--context-id", contextId])
    : commandLine(settings, ["task", "get"], positional(taskId));
}

export function downloadCommand(settings: Settings, taskId: string): string {
  return commandLine(settings, ["task", "download"], positional(taskId));
}

/** The command that goes on with a task's events after the last one that was seen. */
export function subscribeCommand(
  settings: Settings,
  taskId: string,
  lastEventId: number | undefined,
): string {
  const after = lastEventId === undefined ? [] : ["--after", String(lastEventId)];
  return commandLine(settings, ["task", "subscribe"], [...after, ...positional(taskId)]);
}

/** A command of this tool for the same agent. Its words may have come from the agent, so they are quoted. */
export function commandLine(
  { agentCard }: Settings,
  command: readonly string[],
  words: readonly string[],
): string {
  const agent = agentCard === undefined ? [] : ["-a", agentCard];
  return ["a2a", ...command, ...[...agent, ...words].map(quote)].join(" ");
}

/** An id of the agent's as an argument: never mistaken for an option. */
function positional(id: string): string[] {
  return id.startsWith("-") ? ["--", id] : [id];
}

/** A word as a POSIX shell reads it: as it is where it is plain, else in single quotes. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
