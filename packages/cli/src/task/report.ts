import { readQuestion } from "@a2a-connect/client/internal";
import { formatTaskState, isInterrupted, readLifecycleReport } from "@a2a-connect/core";
import { formatMessage, stateOf } from "@a2a-connect/core/internal";
import { type Task, TaskSchema, TaskState } from "@a2a-connect/proto";
import { answerCommand, downloadCommand, waitCommand } from "../commands-to-copy.ts";
import type { CommandContext } from "../context.ts";
import { renderTask } from "../render/task-text.ts";

/** What a state means for the caller. */
interface Outcome {
  /** Of `--exit-state`. Clear of the exit statuses that mean something already (a2a-cli §11.6). */
  readonly exitStatus: number;
  /** Whether it is no success; or the end of a sentence about a task that waits. */
  readonly warning?: true | string;
  /** The command to go on with, its field in `text`, and what it is for, in a note. */
  readonly next: readonly [label: string, purpose: string, command: typeof answerCommand];
}

const save = ["Save", "to save its files", downloadCommand] as const;

const outcomes: Readonly<Partial<Record<TaskState, Outcome>>> = {
  [TaskState.COMPLETED]: { exitStatus: 0, next: save },
  [TaskState.FAILED]: { exitStatus: 20, warning: true, next: save },
  [TaskState.CANCELED]: { exitStatus: 21, warning: true, next: save },
  [TaskState.REJECTED]: { exitStatus: 22, warning: true, next: save },
  [TaskState.INPUT_REQUIRED]: {
    exitStatus: 23,
    warning: "waits for an answer (input-required)",
    next: ["Resume", "to answer", answerCommand],
  },
  [TaskState.AUTH_REQUIRED]: {
    exitStatus: 24,
    warning: "waits for credentials (auth-required)",
    // Waiting would end at once: it ends wherever the caller has to act.
    next: ["Resume", "to go on, once you have signed in", answerCommand],
  },
};

/** Work goes on, or the state is unknown. */
const unfinished: Outcome = { exitStatus: 25, next: ["Follow", "to wait for it", waitCommand] };

/**
 * What to do about a task, after it was printed: answers that fit and the command to go on with (a2a-cli §8.2), and a warning when it
 * did not end well or waits (§11.6). In `json` all of it goes to stderr.
 */
export async function reportTask({ output, settings, signal }: CommandContext, task: Task): Promise<void> {
  const state = stateOf(task);
  const { warning, next } = outcomes[state] ?? unfinished;
  const show = (label: string, purpose: string, value: string): Promise<void> =>
    output.format === "text" ? output.field(label, value) : output.note(`${purpose}: ${value}`);
  const choices = isInterrupted(state) ? readQuestion(task, signal).choices : undefined;
  if (choices !== undefined) await show("Choices", "choices", choices.join(", "));
  const [label, purpose, command] = next;
  if (next !== save || hasFiles(task)) await show(label, purpose, command(settings, task.id));
  if (typeof warning === "string") await output.warn(`task ${task.id} ${warning}`);
  if (warning === true) {
    const { reason } = readLifecycleReport(task.status?.message?.metadata);
    const why = typeof reason === "string" ? `, reason ${reason}` : "";
    await output.warn(`task ${task.id} ended as ${formatTaskState(state)}${why}`);
  }
}

function hasFiles({ artifacts }: Task): boolean {
  return artifacts.some(({ parts }) =>
    parts.some(({ content }) => content.case === "raw" || content.case === "url"),
  );
}

/** Prints a task: everything in it that people can read, or the protocol's own JSON. */
export async function printTask({ output }: CommandContext, task: Task, history?: boolean): Promise<void> {
  await output.document(formatMessage(TaskSchema, task));
  await renderTask(output, task, history);
}

export interface ExitStateOptions {
  readonly exitState?: boolean;
}

/** Has the command end with the status of the task's state, where `--exit-state` asks for that. */
export function exitByState(context: CommandContext, options: ExitStateOptions, state: TaskState): void {
  if (options.exitState === true) context.exitWith((outcomes[state] ?? unfinished).exitStatus);
}
