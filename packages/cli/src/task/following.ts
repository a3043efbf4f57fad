import type { AgentClient, FollowOptions, TaskStream } from "@a2a-connect/client";
import { formatTaskState, isSettled, readLifecycleReport } from "@a2a-connect/core";
import { stateOf } from "@a2a-connect/core/internal";
import type { StreamResponse } from "@a2a-connect/proto";
import { waitCommand } from "../commands-to-copy.ts";
import type { CommandContext } from "../context.ts";
import type { Output } from "../output.ts";
import { progressBar } from "../render/task-text.ts";
import { timedOut } from "./early-end.ts";

/** How a task is followed: to the command's end, by polls as often as the caller says, also below the usual floor. */
export function followingOf({ signal, settings: { pollIntervalMs } }: CommandContext): FollowOptions {
  return { signal, pollIntervalMs, allowFastPolling: true };
}

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
