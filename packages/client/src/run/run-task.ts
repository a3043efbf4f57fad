import { isInterrupted, isTerminal } from "@a2a-connect/core";
import { LinkedAbort, stateOf } from "@a2a-connect/core/internal";
import type { StreamResponse, Task } from "@a2a-connect/proto";
import type { Input } from "../call-options.ts";
import { explainRejection } from "../card/card-drift.ts";
import { type ClientContext, signalOf } from "../client-context.ts";
import { readArtifacts } from "../content/artifact-reader.ts";
import { explained } from "../failure.ts";
import { createObservation, type Observation, type Sending } from "../follow/observation.ts";
import { observe } from "../follow/observe.ts";
import { getTask } from "../operations/operations.ts";
import { createSendRequest } from "../send/send-request.ts";
import { answerQuestion } from "./question-round.ts";
import { RepeatedQuestion } from "./repeated-question.ts";
import { announceTo, type NextEvent, type Run, reportTo } from "./run.ts";
import { deadlineAt, startDeadline } from "./run-deadline.ts";
import { createRunResult } from "./run-result.ts";
import type { ResumeOptions, RunOptions, RunResult } from "./run-types.ts";
import { taskError } from "./task-outcome.ts";

/** Sends a message and follows its task to the result; see AgentClient. */
export function runTask(context: ClientContext, input: Input, options: RunOptions): Promise<RunResult> {
  const { settings } = context;
  const beganMs = settings.clock.now();
  const deadline = options.deadline ?? deadlineAt(options.deadlineMs, settings.clock);
  return drive(context, options, beganMs, (signal) => ({
    sending: {
      request: createSendRequest(input, { ...options, ...(deadline && { deadline }) }, settings.randomId),
      options,
      push: options.push,
      onTaken: announceTo(options, signal),
    },
  }));
}

/** Follows a task to its result; see AgentClient. */
export function resumeTask(
  context: ClientContext,
  taskId: string,
  options: ResumeOptions,
): Promise<RunResult> {
  return drive(context, options, context.settings.clock.now(), () => ({ taskId }));
}

/**
 * Follows a task to its result: through every state, with answers to its questions.
 *
 * @throws TaskError when the task ended without a result, or waits for a callback that is missing
 */
function drive(
  context: ClientContext,
  options: ResumeOptions,
  beganMs: number,
  begin: (signal: AbortSignal) => { readonly sending: Sending } | { readonly taskId: string },
): Promise<RunResult> {
  return explained(async () => {
    const repeated = new RepeatedQuestion(options.maxRepeats);
    const given = signalOf(context, options);
    using ended = new LinkedAbort(given);
    const { signal } = ended;
    const observation = createObservation(context, options, {
      ...begin(signal),
      until: "terminal",
      signal,
    });
    startDeadline(options.deadlineMs, beganMs, context.settings.clock, observation.tracker, ended);
    const events = observe(context, observation);
    try {
      return await conduct({ context, options, observation, events, repeated });
    } catch (error) {
      if (given.aborted && options.cancelOnAbort === true) {
        await cancelQuietly(context, observation);
      }
      throw await explainRejection(
        context.cards,
        signal.aborted ? signal.reason : error,
        context.closed.signal,
      );
    } finally {
      ended.abort(isOver);
      // Not awaited: it would wait for a pending read, which the abort ends.
      events.return().catch(() => {});
    }
  });
}

/** An error for each run would have a stack of its own. */
const isOver = new Error("the run is over");

async function conduct(run: Run): Promise<RunResult> {
  const { context, options, observation, events, repeated } = run;
  const { tracker, signal, sending } = observation;
  const announce = sending?.onTaken ?? announceTo(options, signal);
  let next: NextEvent | undefined;
  for (;;) {
    const { done, value: event } = next ?? (await events.next());
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
    repeated.note(event);
    await announce(task);
    await reportTo(options, event, task, signal);
    if (asks(event, task, observation)) {
      next = await answerQuestion(task, run);
    }
  }
  const final = await finalTask(run);
  const failure = taskError(final);
  if (failure !== undefined) {
    throw failure;
  }
  return createRunResult(final, final.status?.message, readArtifacts(context, final));
}

function asks({ payload }: StreamResponse, task: Task, { tracker }: Observation): boolean {
  return (
    (payload.case === "task" || payload.case === "statusUpdate") &&
    isInterrupted(stateOf(task)) &&
    !tracker.isIgnored(task.status)
  );
}

/** The agent's task at the end. Streams without numbers may have lost events. */
async function finalTask({ context, observation }: Run): Promise<Task> {
  const { tracker, headers, signal } = observation;
  const { task } = tracker;
  if (task === undefined) {
    throw new Error("the task had no events");
  }
  if (tracker.isExact) {
    return task;
  }
  const now = await getTask(context, task.id, { headers, signal }).catch(() => task);
  return isTerminal(stateOf(now)) ? now : task;
}

/** How long an aborted run waits for its task to be canceled. */
const cancelLimitMs = 5_000;

/** Tries once to cancel the task, although the run is over. */
async function cancelQuietly(
  { rpc, settings }: ClientContext,
  { tracker: { taskId: id }, headers }: Observation,
): Promise<void> {
  if (id !== undefined) {
    const timeoutMs = Math.min(cancelLimitMs, settings.requestTimeoutMs);
    await rpc.cancelTask({ id }, { headers, timeoutMs }).catch(() => {}); // the run ends either way
  }
}
