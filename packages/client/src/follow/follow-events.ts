import { isSettled, isTerminal } from "@a2a-connect/core";
import { draftProtocolVersion, lastEventIdHeader } from "@a2a-connect/core/internal";
import type { StreamResponse, Task, TaskStatus } from "@a2a-connect/proto";
import { type CallOptions, Code, ConnectError } from "@connectrpc/connect";
import type { Connection } from "../connection.ts";
import { InvalidResponseError, UnreachableError } from "../errors.ts";
import { explainFailure } from "../failure.ts";
import { isSilence, readEventStream } from "./event-stream.ts";
import { PollSchedule } from "./poll-schedule.ts";
import { retryDelayMs } from "./retry-delay.ts";
import { checkTask, isSameStatus, stateOf } from "./task-status.ts";
import type { TaskTracker } from "./task-tracker.ts";
import { judgeStreamFailure } from "./verdict.ts";
import type { WakeUp } from "./wake-up.ts";

/** The followed task, and how far it has been seen. */
export interface Following {
  readonly taskId: string;
  readonly tracker: TaskTracker;
  readonly until: "settled" | "terminal";
  /** A status that is known to be out of date: it does not end the following. */
  readonly staleStatus?: TaskStatus | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly pollIntervalMs: number;
  readonly signal: AbortSignal;
  /** Ends waits between two attempts. */
  readonly wakeUp: WakeUp;
}

/**
 * How many streams in a row may bring no event before the client polls. It is more when events are numbered: only a
 * stream has each of them.
 */
function patienceOf({ position }: TaskTracker): number {
  return position === undefined ? 3 : 8;
}

/** A long poll that was answered sooner than this did not wait. */
const shortestLongPollMs = 1_000;

/**
 * The events of a task that the client does not have yet, until the task is over. It reads streams as long as there are
 * any. When a stream breaks, it opens another one after the last event. When streams bring no event, it uses long polls
 * (A2A 1.1) or polls.
 *
 * @throws UnreachableError when the agent could not be reached for longer than `retry.giveUpAfterMs`
 * @throws ConnectError an answer of the agent that a repeated call would not change, such as TASK_NOT_FOUND
 */
export async function* followEvents(
  connection: Connection,
  following: Following,
): AsyncGenerator<StreamResponse, void> {
  const { tracker, signal, wakeUp, taskId } = following;
  const { clock, retry } = connection.settings;
  const schedule = new PollSchedule(following.pollIntervalMs);
  const outage = new Outage(connection, taskId);
  let streams = connection.card.capabilities?.streaming === true;
  let fruitless = 0;
  let triedAgain = false;
  let silent = false;

  while (!isOver(following)) {
    if (streams) {
      let failure: unknown;
      try {
        for await (const events of streamEvents(connection, following)) {
          if (events.length > 0) {
            fruitless = 0;
            triedAgain = false;
            outage.over();
          }
          for (const event of events) {
            yield event; // each costs less than by yield*
          }
          if (isOver(following)) {
            return;
          }
        }
        fruitless += 1; // it was closed, and the task is not over
      } catch (error) {
        signal.throwIfAborted();
        failure = error;
        const verdict = judgeStreamFailure(error);
        if (verdict === "fatal") {
          throw error;
        }
        if (verdict === "no-streams") {
          streams = false;
          continue;
        }
        if (verdict === "cursor") {
          tracker.position = undefined;
        }
        if (isSilence(error)) {
          silent = true; // no failure if the task waits; otherwise a proxy holds its events back
        } else {
          fruitless += 1;
          outage.failed(error);
        }
      }
      if (isOver(following)) {
        return;
      }
      if (!silent && fruitless < patienceOf(tracker)) {
        await wakeUp.sleep(retryDelayMs(fruitless, failure, retry, clock), clock, signal);
        continue;
      }
    }

    try {
      const { task, held } = await pollTask(connection, following);
      outage.over();
      if (streams && tracker.position !== undefined && !triedAgain && tracker.isBehind(task)) {
        triedAgain = true; // the task has new events, and a stream would have each of them
        silent = false;
        continue;
      }
      const events = tracker.acceptSnapshot(task);
      yield* events;
      if (isOver(following)) {
        return;
      }
      if (silent) {
        silent = false;
        streams &&= events.length === 0; // the stream held events back, so it is not used again
      } else if (!held || streams) {
        const isWoken = await wakeUp.sleep(schedule.next(events.length > 0), clock, signal);
        if (isWoken) {
          schedule.reset();
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      if (judgeStreamFailure(error) !== "transient") {
        throw error;
      }
      fruitless += 1;
      outage.failed(error);
      await wakeUp.sleep(retryDelayMs(fruitless, error, retry, clock), clock, signal);
    }
  }
}

/** Whether there is nothing more to wait for. */
export function isOver({
  tracker,
  until,
  staleStatus,
}: Pick<Following, "tracker" | "until" | "staleStatus">): boolean {
  const { task } = tracker;
  const state = stateOf(task);
  if (until === "terminal") {
    return isTerminal(state);
  }
  return isSettled(state) && !(staleStatus !== undefined && isSameStatus(task?.status, staleStatus));
}

/** The new events of one subscription; a Task may contain several. */
async function* streamEvents(
  { rpc, settings }: Connection,
  { taskId, tracker, headers, signal }: Following,
): AsyncGenerator<readonly StreamResponse[], void> {
  const cursor = tracker.position === undefined ? {} : { [lastEventIdHeader]: String(tracker.position) };
  const call = (options: CallOptions) =>
    rpc.subscribeToTask({ id: taskId }, { ...options, headers: { ...headers, ...cursor } });
  for await (const numbered of readEventStream(call, { ...settings, signal })) {
    if (numbered.response.payload.case === "message") {
      throw new InvalidResponseError("The agent sent a direct message into the stream of a task.", {
        hint: "The server does not follow the A2A protocol: once there is a task, its replies are part of it.",
      });
    }
    yield tracker.accept(numbered);
  }
}

/** Fetches the task. With A2A 1.1 the server answers when the task has changed. */
async function pollTask(
  { rpc, settings, protocolVersion }: Connection,
  { taskId, tracker, headers, signal }: Following,
): Promise<{ readonly task: Task; readonly held: boolean }> {
  const { clock, idleTimeoutMs, requestTimeoutMs } = settings;
  const { position } = tracker;
  if (protocolVersion !== draftProtocolVersion || position === undefined) {
    const task = await rpc.getTask({ id: taskId }, { headers, signal, timeoutMs: requestTimeoutMs });
    return { task: checkTask(task, taskId), held: false };
  }
  const began = clock.now();
  const task = await rpc.getTask(
    { id: taskId, currentGeneration: BigInt(position) },
    { headers, signal, timeoutMs: idleTimeoutMs },
  );
  checkTask(task, taskId);
  return { task, held: clock.now() - began >= shortestLongPollMs || Number(task.generation) > position };
}

/** How long the agent could not be reached. */
class Outage {
  readonly #connection: Connection;
  readonly #taskId: string;
  #sinceMs: number | undefined;
  /** What was wrong with a response, if there was one: it explains more than the broken connections after it. */
  #oddity: InvalidResponseError | undefined;

  constructor(connection: Connection, taskId: string) {
    this.#connection = connection;
    this.#taskId = taskId;
  }

  over(): void {
    this.#sinceMs = undefined;
    this.#oddity = undefined;
  }

  /** @throws UnreachableError, or InvalidResponseError, when it has lasted too long */
  failed(error: unknown): void {
    const { clock, retry } = this.#connection.settings;
    this.#sinceMs ??= clock.now();
    const explained = explainFailure(error);
    if (explained instanceof InvalidResponseError) {
      this.#oddity = explained;
    }
    if (clock.now() - this.#sinceMs < retry.giveUpAfterMs) {
      return;
    }
    if (this.#oddity !== undefined) {
      throw this.#oddity;
    }
    const reason = error instanceof ConnectError ? error.rawMessage : String(error);
    const code = error instanceof ConnectError ? Code[error.code] : "Unknown";
    throw new UnreachableError(
      `The agent could not be reached for ${retry.giveUpAfterMs} ms: ${reason} (${code}).`,
      {
        taskId: this.#taskId,
        hint: "The task goes on without us: follow it again once the agent can be reached.",
        cause: error,
      },
    );
  }
}
