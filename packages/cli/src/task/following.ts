import type { AgentClient, FollowOptions, TaskStream } from "@a2a-connect/client";
import { formatTaskState, isSettled, readLifecycleReport } from "@a2a-connect/core";
import { type StreamResponse, type Task, TaskState, type TaskStatus } from "@a2a-connect/proto";
import { CliError } from "../cli-error.ts";
import { lookCommand, subscribeCommand, waitCommand } from "../commands-to-copy.ts";
import type { CommandContext } from "../context.ts";
import type { Output } from "../output.ts";
import { progressBar } from "../render/task-text.ts";
import type { Settings } from "../settings/resolve.ts";
import { formatDuration } from "../settings/values.ts";

/** How a task is polled where it cannot be streamed: as often as the caller says, also below the usual floor. */
export function pollingOf({ pollIntervalMs }: Settings): FollowOptions {
  return { pollIntervalMs, ...(pollIntervalMs < recommendedPollMs ? { allowFastPolling: true } : {}) };
}

const recommendedPollMs = 2_000;

/** Says so when events were asked for, and the card of the agent has no streams (a2a-cli §13.3): then it is polled. */
export async function notePolling({ output }: CommandContext, { card }: AgentClient): Promise<void> {
  if (card.capabilities?.streaming !== true) {
    await output.note("the agent cannot stream, so a2a polls it");
  }
}

interface FollowingOptions {
  /** The task's id, where it is known before its first event. */
  readonly taskId?: string;
  readonly onEvent?: (event: StreamResponse) => Promise<void>;
  /** Whether an event is the last one that is wanted. Default: the stream ends by itself. */
  readonly isEnd?: (event: StreamResponse) => Promise<boolean>;
  /** Whether nothing else shows that the command waits: see {@link showWaiting}. */
  readonly announce?: boolean;
}

/** Follows a stream to its end, or to a Ctrl-C: then the caller prints what there is and {@link detach}es. */
export async function followToEnd(
  context: CommandContext,
  stream: TaskStream,
  { taskId, onEvent = async () => {}, isEnd = async () => false, announce = false }: FollowingOptions = {},
): Promise<"ended" | "detached"> {
  using _waiting = announce ? showWaiting(context.output, stream) : undefined;
  try {
    for await (const event of stream) {
      await onEvent(event);
      if (await isEnd(event)) break;
    }
    return "ended";
  } catch (error) {
    if (context.io.interrupted.aborted) return "detached";
    if (context.signal.aborted) throw timedOut(context, stream.task, taskId);
    const { task } = stream;
    if (task !== undefined && !isSettled(stateOf(task))) {
      // A broken connection is no end of the task.
      await context.output.note(
        `task ${task.id} may go on; to wait for it: ${waitCommand(context.settings, task.id)}`,
      );
    }
    throw error;
  }
}

function timedOut(context: CommandContext, task: Task | undefined, taskId = task?.id): CliError {
  if (taskId === undefined) return unanswered(context);
  const { settings } = context;
  const limit = formatDuration(settings.timeoutMs ?? 0);
  const [known, state] = task
    ? [` (context ${task.contextId})`, `, ${formatTaskState(stateOf(task))}`]
    : ["", ""];
  const message = `task ${taskId}${known} has not ended within ${limit}${state}; it goes on`;
  return new CliError("A2ACLI_ERR_TIMEOUT", message, { hint: waitCommand(settings, taskId) });
}

/** A message that was given up, by a Ctrl-C or `--timeout`, before the agent named a task: whether it was taken is not known. */
export function unanswered({ io, settings }: CommandContext): CliError {
  const limit = formatDuration(settings.timeoutMs ?? 0);
  const [code, what] = io.interrupted.aborted
    ? (["A2ACLI_ERR_INTERNAL", "interrupted before the agent answered"] as const)
    : (["A2ACLI_ERR_TIMEOUT", `the agent has not answered within ${limit}`] as const);
  const hint = `to look for it: ${lookCommand(settings)}`;
  return new CliError(code, `${what}; the message may have arrived`, { hint });
}

/** Says how to come back to a task that is left to itself after a Ctrl-C. The exit status is 130 by itself. */
export async function detach(
  context: CommandContext,
  task: { readonly id: string; readonly contextId?: string } | undefined,
  lastEventId?: number,
): Promise<void> {
  const { output, settings } = context;
  if (task === undefined) {
    const { message, hint = "" } = unanswered(context);
    await output.note(message);
    return await output.note(hint);
  }
  const known = task.contextId === undefined ? "" : ` (context ${task.contextId})`;
  await output.note(`detached; task ${task.id}${known} goes on`);
  await output.note(`to follow it again: ${subscribeCommand(settings, task.id, lastEventId)}`);
}

/** The state of a task, UNSPECIFIED where it has none. */
export function stateOf({ status }: { readonly status?: TaskStatus | undefined }): TaskState {
  return status?.state ?? TaskState.UNSPECIFIED;
}

export function statusOf({ payload }: StreamResponse): TaskStatus | undefined {
  return payload.case === "task" || payload.case === "statusUpdate" ? payload.value.status : undefined;
}

const drawEveryMs = 120;

/** What is over by then needs no announcement: its result is as good. */
const announceAfterMs = 1_000;

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/**
 * Shows at a terminal that the command waits, for how long, and how far the agent says it is. As soon as that takes longer than a
 * second, it tells stderr, there or not, which task is being waited for: nothing else shows its id before the end, and when this
 * process dies, the task can be found again.
 */
function showWaiting({ note, progress: draw, paint }: Output, stream: TaskStream): Disposable {
  const began = performance.now();
  let drawn = 0;
  let isAnnounced = false;
  const show = async (): Promise<void> => {
    const waitedMs = performance.now() - began;
    const { task } = stream;
    const state = task === undefined ? "sending" : formatTaskState(stateOf(task));
    if (task !== undefined && !isAnnounced && waitedMs >= announceAfterMs) {
      isAnnounced = true;
      await note(`task ${task.id} is ${state}; Ctrl-C detaches, and the task goes on`);
    }
    const { progress } = readLifecycleReport(task?.status?.message?.metadata);
    const words = [
      paint("cyan", frames[drawn++ % frames.length] ?? ""),
      state,
      ...(typeof progress === "number" ? [progressBar(progress)] : []),
      paint("dim", `${Math.round(waitedMs / 1_000)} s`),
    ];
    await draw(words.join(" "));
  };
  const timer = setInterval(() => {
    show().catch(() => {}); // stderr is gone
  }, drawEveryMs);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      draw(undefined).catch(() => {});
    },
  };
}
