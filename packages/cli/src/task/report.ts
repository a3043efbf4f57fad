import { readQuestion } from "@a2a-connect/client/internal";
import { formatTaskState, isInterrupted, readLifecycleReport } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import { type Task, TaskSchema, TaskState } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import type { CommandContext } from "../context.ts";
import { type RenderTaskOptions, renderTask } from "../render/task.ts";
import { stateOf } from "./following.ts";
import { answerCommand, downloadCommand, waitCommand } from "./hints.ts";

/**
 * What to do about a task, after it was printed: which answers fit and the command to go on with (a2a-cli §8.2), and a
 * warning when it did not end well or waits (§11.6). In `json` all of it goes to stderr.
 */
export async function reportTask({ output, settings, signal }: CommandContext, task: Task): Promise<void> {
  const state = stateOf(task);
  const choices = isInterrupted(state) ? readQuestion(task, signal).choices : undefined;
  const next = nextStep(task);
  const text = output.format === "text";
  if (choices !== undefined) {
    await (text
      ? output.field("Choices", choices.join(", "))
      : output.note(`choices: ${choices.join(", ")}`));
  }
  if (next !== undefined) {
    const command = next.command(settings, task.id);
    await (text ? output.field(next.label, command) : output.note(`${next.purpose}: ${command}`));
  }
  const warning = outcomeWarning(task);
  if (warning !== undefined) await output.warn(warning);
}

interface NextStep {
  /** Of the field in `text`. */
  readonly label: string;
  /** What it is for, in a note. */
  readonly purpose: string;
  readonly command: typeof answerCommand;
}

function nextStep(task: Task): NextStep | undefined {
  switch (stateOf(task)) {
    case TaskState.COMPLETED:
    case TaskState.FAILED:
    case TaskState.CANCELED:
    case TaskState.REJECTED:
      return hasFiles(task)
        ? { label: "Save", purpose: "to save its files", command: downloadCommand }
        : undefined;
    case TaskState.INPUT_REQUIRED:
      return { label: "Resume", purpose: "to answer", command: answerCommand };
    case TaskState.AUTH_REQUIRED:
      // Waiting would end at once: it ends wherever the caller has to act.
      return { label: "Resume", purpose: "to go on, once you have signed in", command: answerCommand };
    default:
      return { label: "Follow", purpose: "to wait for it", command: waitCommand };
  }
}

function hasFiles({ artifacts }: Task): boolean {
  return artifacts.some(({ parts }) =>
    parts.some(({ content }) => content.case === "raw" || content.case === "url"),
  );
}

/** One sentence about an outcome that is no success, or a pause; the agent's own words are in the task. */
function outcomeWarning(task: Task): string | undefined {
  const state = stateOf(task);
  switch (state) {
    case TaskState.FAILED:
    case TaskState.CANCELED:
    case TaskState.REJECTED: {
      const { reason } = readLifecycleReport(task.status?.message?.metadata);
      const why = typeof reason === "string" ? `, reason ${reason}` : "";
      return `task ${task.id} ended as ${formatTaskState(state)}${why}`;
    }
    case TaskState.INPUT_REQUIRED:
      return `task ${task.id} waits for an answer (input-required)`;
    case TaskState.AUTH_REQUIRED:
      return `task ${task.id} waits for credentials (auth-required)`;
    default:
      return undefined;
  }
}

/** Prints a task: everything in it that people can read, or the protocol's own JSON. */
export async function printTask(
  { output }: CommandContext,
  task: Task,
  options?: RenderTaskOptions,
): Promise<void> {
  await output.document(taskDocument(task));
  await renderTask(output, task, options);
}

/** A task as the protocol's own JSON (a2a-cli Appendix B). */
export function taskDocument(task: Task): JsonValue {
  return formatMessage(TaskSchema, task);
}

/** What `--exit-state` leaves in a command's options. */
export interface ExitStateOptions {
  readonly exitState?: boolean;
}

/** Exit statuses of states, for those who ask for them. Clear of the ones that mean something already (a2a-cli §11.6). */
const statuses: ReadonlyMap<TaskState, number> = new Map([
  [TaskState.COMPLETED, 0],
  [TaskState.FAILED, 20],
  [TaskState.CANCELED, 21],
  [TaskState.REJECTED, 22],
  [TaskState.INPUT_REQUIRED, 23],
  [TaskState.AUTH_REQUIRED, 24],
]);

/** Work goes on, or nobody knows. */
const unfinished = 25;

/** Has the command end with the status of the task's state, where `--exit-state` asks for that. */
export function exitByState(context: CommandContext, options: ExitStateOptions, state: TaskState): void {
  if (options.exitState === true) context.exitWith(statuses.get(state) ?? unfinished);
}
