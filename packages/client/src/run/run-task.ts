import { isInterrupted } from "@a2a-connect/core";
import { type StreamResponse, type Task, TaskSchema, TaskState, type TaskStatus } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { ClientClock } from "../clock.ts";
import type { ArtifactReader } from "../content/artifact-reader.ts";
import { reconcile } from "../follow/reconcile.ts";
import { isSameStatus, stateOf } from "../follow/task-status.ts";
import { callBack } from "./callback-error.ts";
import { answerQuestion, type NextEvent, type QuestionHost } from "./question-round.ts";
import { startDeadline } from "./run-deadline.ts";
import { createRunResult } from "./run-result.ts";
import type { ResumeOptions, RunResult } from "./run-types.ts";
import { taskError } from "./task-outcome.ts";

/** What a run needs of the client. */
export interface RunHost extends QuestionHost {
  readonly clock: ClientClock;
  /** Sends the message and returns all events of its task, to its end. */
  open(signal: AbortSignal, run: OpenedRun): AsyncGenerator<StreamResponse, void>;
  /** The status that a task had before the message was sent to it: not a question of this run. */
  staleStatus: TaskStatus | undefined;
  /** Tries once to cancel the task, although the run is over. */
  cancelOnce(taskId: string, timeoutMs: number): Promise<unknown>;
  /** The agent's task at the end, in case its stream left something out. */
  finalTask(task: Task, signal: AbortSignal): Promise<Task>;
  read(task: Task): readonly ArtifactReader[];
}

/** What sending a run's message needs to know. */
export interface OpenedRun {
  /** The deadline for the agent. */
  readonly deadline: Date | undefined;
  /** Call it with the task before any event of it, if the task is known then. */
  readonly onTaken: (task: Task) => Promise<void>;
}

/**
 * Sends a message and follows its task to the result: through every state, with answers to its questions.
 *
 * @throws TaskError when the task ended without a result, or waits for a callback that is missing
 */
export async function runTask(host: RunHost, options: ResumeOptions): Promise<RunResult> {
  const ended = new AbortController();
  const deadline = startDeadline(options.deadlineMs, host.clock, host.tracker, ended);
  const signal = AbortSignal.any([options.signal ?? ended.signal, ended.signal]);
  const announce = once((task: Task) => callBack("onTask", () => options.onTask?.(task), task, signal));
  const events = host.open(signal, { deadline: deadline.at, onTaken: announce });
  try {
    return await conduct(host, options, events, announce, signal);
  } catch (error) {
    if (options.signal?.aborted === true && options.cancelOnAbort === true) {
      await cancelQuietly(host);
    }
    throw signal.aborted ? signal.reason : error;
  } finally {
    ended.abort(new Error("the run is over"));
    deadline.stop();
    // Not awaited: it would wait for a pending read, which the abort ends.
    events.return().catch(() => {});
  }
}

async function conduct(
  host: RunHost,
  options: ResumeOptions,
  events: AsyncGenerator<StreamResponse, void>,
  announce: (task: Task) => Promise<void>,
  signal: AbortSignal,
): Promise<RunResult> {
  const { tracker } = host;
  const read = () => events.next();
  const report = (event: StreamResponse, task: Task) => reportEvent(event, task, options, signal);
  let next: NextEvent | undefined;
  for (;;) {
    const { done, value: event } = next ?? (await read());
    next = undefined;
    if (done === true) {
      break;
    }
    if (event.payload.case === "message") {
      return createRunResult(undefined, event.payload.value, []);
    }
    const { task } = tracker;
    if (task === undefined) {
      continue;
    }
    await announce(task);
    await report(event, task);
    if (asks(event, task, host)) {
      next = await answerQuestion(task, { host, options, signal, read, report });
    }
  }
  const { task } = tracker;
  if (task === undefined) {
    throw new Error("the task had no events");
  }
  const final = await host.finalTask(task, signal);
  const failure = taskError(final);
  if (failure !== undefined) {
    throw failure;
  }
  return createRunResult(final, final.status?.message, host.read(final));
}

function asks({ payload }: StreamResponse, task: Task, { staleStatus }: RunHost): boolean {
  return (
    (payload.case === "task" || payload.case === "statusUpdate") &&
    isInterrupted(stateOf(task)) &&
    !isSameStatus(task.status, staleStatus)
  );
}

/** A Task may contain several events: its artifacts, and a status that is not that of its creation. */
async function reportEvent(
  { payload }: StreamResponse,
  task: Task,
  options: ResumeOptions,
  signal: AbortSignal,
): Promise<void> {
  if (payload.case === "task") {
    const { id, contextId, status } = payload.value;
    const created = create(TaskSchema, { id, contextId });
    if (status?.state === TaskState.SUBMITTED) {
      created.status = status;
    }
    for (const event of reconcile(created, payload.value)) {
      await reportEvent(event, task, options, signal);
    }
  } else if (payload.case === "statusUpdate") {
    await callBack("onProgress", () => options.onProgress?.(payload.value, task), task, signal);
  } else if (payload.case === "artifactUpdate") {
    await callBack("onArtifact", () => options.onArtifact?.(payload.value, task), task, signal);
  }
}

/** How long an aborted run waits for its task to be canceled. */
const cancelLimitMs = 5_000;

async function cancelQuietly(host: RunHost): Promise<void> {
  const { taskId } = host.tracker;
  if (taskId !== undefined) {
    await host.cancelOnce(taskId, cancelLimitMs).catch(() => {}); // the run ends either way
  }
}

function once<T>(call: (value: T) => Promise<void>): (value: T) => Promise<void> {
  let called = false;
  return async (value) => {
    if (!called) {
      called = true;
      await call(value);
    }
  };
}
