import { findA2AError } from "@a2a-connect/core";
import type { SendMessageRequest, StreamResponse } from "@a2a-connect/proto";
import { type CallOptions, Code, ConnectError } from "@connectrpc/connect";
import type { Connection } from "../connection.ts";
import { InvalidResponseError, UnreachableError } from "../errors.ts";
import { backoffMs } from "../follow/backoff.ts";
import { readEventStream } from "../follow/event-stream.ts";
import { type Following, followEvents, isOver } from "../follow/follow-events.ts";
import { isTransient, judgeStreamFailure } from "../follow/verdict.ts";
import { wasNeverSent } from "../interface/never-sent.ts";
import { keyHeader, sendOnce, sendUncertain } from "./send-once.ts";

/** A send and what it is followed by. */
export interface Sending extends Omit<Following, "taskId"> {
  readonly request: SendMessageRequest;
  readonly key: string | undefined;
}

/** Attempts at a stream before the same message is sent by a call. */
const patience = 3;

/**
 * Sends a message and gives the events of its task until it is over, or the one direct Message.
 *
 * @throws SendUncertainError when nobody knows whether the message was taken; otherwise as `followEvents`
 */
export async function* sendAndFollow(
  connection: Connection,
  sending: Sending,
): AsyncGenerator<StreamResponse, void> {
  const { tracker } = sending;
  const first =
    connection.card.capabilities?.streaming === true
      ? sendByStream(connection, sending)
      : sendByCall(connection, sending);
  const taskId = (yield* first) ?? tracker.task?.id;
  if (taskId !== undefined && !isOver(sending)) {
    yield* followEvents(connection, { ...sending, taskId });
  }
}

/**
 * SendMessage, and the task as it is then.
 *
 * @param replay leave the events to be followed, a new task's from its creation, so that each of them is seen
 * @returns the id of that task
 */
async function* sendByCall(
  connection: Connection,
  sending: Sending,
  replay = false,
): AsyncGenerator<StreamResponse, string | undefined> {
  const { request, headers, signal, key, tracker } = sending;
  const immediate: SendMessageRequest = {
    ...request,
    configuration: {
      $typeName: "lf.a2a.v1.SendMessageConfiguration",
      acceptedOutputModes: [],
      ...request.configuration,
      returnImmediately: true,
    },
  };
  const timeoutMs = connection.settings.requestTimeoutMs;
  const { payload } = await sendOnce(connection, immediate, { headers, signal, key, timeoutMs });
  if (payload.case === "message") {
    yield { $typeName: "lf.a2a.v1.StreamResponse", payload };
  } else if (payload.case === "task" && replay) {
    tracker.position = request.message?.taskId === "" ? 0 : undefined;
    return payload.value.id;
  } else if (payload.case === "task") {
    yield* tracker.acceptSnapshot(payload.value);
  }
  return undefined;
}

/**
 * SendStreamingMessage, repeated under its key until something comes; what comes up to the first break.
 *
 * @returns the id of a task none of whose events came
 */
async function* sendByStream(
  connection: Connection,
  sending: Sending,
): AsyncGenerator<StreamResponse, string | undefined> {
  const { request, headers, signal, key, tracker } = sending;
  const { clock, retry } = connection.settings;
  const began = clock.now();
  const messageId = request.message?.messageId ?? "";
  for (let attempt = 1; ; attempt++) {
    let failure: unknown = new InvalidResponseError("The agent closed the stream without an event.", {
      hint: "The server does not follow the A2A protocol.",
    });
    try {
      const call = (options: CallOptions) =>
        connection.rpc.sendStreamingMessage(request, {
          ...options,
          headers: { ...headers, ...keyHeader(key) },
        });
      const options = { ...connection.settings, signal };
      if (key !== undefined && attempt % patience === 0) {
        return yield* sendByCall(connection, sending, true); // something on the way may not let streams through
      }
      for await (const numbered of readEventStream(call, options)) {
        for (const event of tracker.accept(numbered)) {
          yield event;
          if (event.payload.case === "message" || isOver(sending)) {
            return undefined;
          }
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      if (tracker.task === undefined && lacksStreams(error, request)) {
        return yield* sendByCall(connection, sending);
      }
      if (tracker.task === undefined && !isTransient(error)) {
        throw error;
      }
      failure = error;
      if (tracker.task !== undefined && judgeStreamFailure(error) === "fatal") {
        throw error;
      }
    }
    if (tracker.task !== undefined) {
      return undefined; // from here on it is followed
    }
    if (key === undefined && isAnswer(failure)) {
      throw failure;
    }
    if (key === undefined && !wasNeverSent(failure)) {
      throw sendUncertain(messageId, failure);
    }
    if (clock.now() - began >= retry.giveUpAfterMs) {
      throw new UnreachableError(`The agent could not be reached for ${retry.giveUpAfterMs} ms.`, {
        hint: "Send it again later, under the same idempotency key if you have set one.",
        cause: failure,
      });
    }
    await clock.sleep(backoffMs(attempt, retry, clock), signal);
  }
}

function isAnswer(failure: unknown): boolean {
  return failure instanceof ConnectError && failure.isWireError;
}

/** The card promises streams and the server has none. A message to a task may be refused for other reasons. */
function lacksStreams(error: unknown, { message }: SendMessageRequest): boolean {
  if (!(error instanceof ConnectError)) {
    return false;
  }
  return (
    error.code === Code.Unimplemented ||
    (findA2AError(error)?.reason === "UNSUPPORTED_OPERATION" && message?.taskId === "")
  );
}
