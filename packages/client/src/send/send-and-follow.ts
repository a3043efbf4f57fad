import { findA2AError } from "@a2a-connect/core";
import {
  SendMessageConfigurationSchema,
  type SendMessageRequest,
  type SendMessageResponse,
  type StreamResponse,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { type CallOptions, Code, ConnectError } from "@connectrpc/connect";
import type { Connection } from "../connection.ts";
import { InvalidResponseError, UnreachableError } from "../errors.ts";
import { readEventStream } from "../follow/event-stream.ts";
import { type Following, followEvents, isOver } from "../follow/follow-events.ts";
import { retryDelayMs } from "../follow/retry-delay.ts";
import { isTransient, judgeStreamFailure } from "../follow/verdict.ts";
import { wasNeverSent } from "../interface/never-sent.ts";
import { keyHeader, sendOnce, sendUncertain } from "./send-once.ts";

/** A send, and how to follow its task. */
export interface Sending extends Omit<Following, "taskId"> {
  readonly request: SendMessageRequest;
  readonly key: string | undefined;
}

/** Attempts at a stream before the client sends the same message by a call. */
const patience = 3;

/**
 * Sends a message and returns the events of its task until it is over, or the one direct Message.
 *
 * @throws SendUncertainError when it is not known whether the message was taken; otherwise as `followEvents`
 */
export async function* sendAndFollow(
  connection: Connection,
  sending: Sending,
): AsyncGenerator<StreamResponse, void> {
  const streams = connection.card.capabilities?.streaming === true;
  yield* streams ? sendByStream(connection, sending) : sendByCall(connection, sending);
  const { taskId } = sending.tracker;
  if (taskId !== undefined && !isOver(sending)) {
    yield* followEvents(connection, { ...sending, taskId });
  }
}

/**
 * SendMessage, and the task as it is then.
 *
 * @param replay leaves the events to be followed (for a new task from its creation), so that each of them is seen
 * @returns true: there is an answer
 */
async function* sendByCall(
  connection: Connection,
  sending: Sending,
  replay = false,
): AsyncGenerator<StreamResponse, true> {
  const { request, tracker } = sending;
  const { payload } = await sendImmediately(connection, sending, request);
  if (payload.case === "message") {
    yield { $typeName: "lf.a2a.v1.StreamResponse", payload };
  } else if (payload.case === "task" && replay) {
    tracker.expect(payload.value.id);
  } else if (payload.case === "task") {
    yield* tracker.acceptSnapshot(payload.value);
  }
  return true;
}

/** Sends a message by a call that does not wait for its task. */
export function sendImmediately(
  connection: Connection,
  { headers, signal, key }: Pick<Sending, "headers" | "signal" | "key">,
  request: SendMessageRequest,
): Promise<SendMessageResponse> {
  const { requestTimeoutMs: timeoutMs } = connection.settings;
  const configuration = {
    ...create(SendMessageConfigurationSchema),
    ...request.configuration,
    returnImmediately: true,
  };
  return sendOnce(connection, { ...request, configuration }, { headers, signal, key, timeoutMs });
}

/** SendStreamingMessage, repeated under its key until an event comes; returns the events up to the first break. */
async function* sendByStream(connection: Connection, sending: Sending): AsyncGenerator<StreamResponse, void> {
  const { request, signal, key, tracker } = sending;
  const { clock, retry } = connection.settings;
  const began = clock.now();
  for (let attempt = 1; ; attempt++) {
    let failure: unknown;
    try {
      // After some attempts, by a call: a proxy may block streams.
      const byCall = key !== undefined && attempt % patience === 0;
      const isAnswered = yield* byCall
        ? sendByCall(connection, sending, true)
        : readSend(connection, sending);
      if (isAnswered) {
        return;
      }
      failure = new InvalidResponseError("The agent closed the stream without an event.", {
        hint: "The server does not follow the A2A protocol.",
      });
    } catch (error) {
      signal.throwIfAborted();
      if (tracker.taskId !== undefined && judgeStreamFailure(error) !== "fatal") {
        return; // the task is followed from here on
      }
      if (tracker.taskId === undefined && lacksStreams(error, request)) {
        yield* sendByCall(connection, sending);
        return;
      }
      if (!isTransient(error)) {
        throw error;
      }
      failure = error;
    }
    if (key === undefined && !wasNeverSent(failure)) {
      throw isAnswer(failure) ? failure : sendUncertain(request.message?.messageId ?? "", failure);
    }
    if (clock.now() - began >= retry.giveUpAfterMs) {
      throw new UnreachableError(`The agent could not be reached for ${retry.giveUpAfterMs} ms.`, {
        hint: "Send it again later, under the same idempotency key if you have set one.",
        cause: failure,
      });
    }
    await clock.sleep(retryDelayMs(attempt, failure, retry, clock), signal);
  }
}

/**
 * The events of one SendStreamingMessage, until the task is over or the stream ends.
 *
 * @returns whether it brought any event
 */
async function* readSend(
  { rpc, settings }: Connection,
  sending: Sending,
): AsyncGenerator<StreamResponse, boolean> {
  const { request, headers, signal, key, tracker } = sending;
  const call = (options: CallOptions) =>
    rpc.sendStreamingMessage(request, { ...options, headers: { ...headers, ...keyHeader(key) } });
  for await (const numbered of readEventStream(call, { ...settings, signal })) {
    const events = tracker.accept(numbered);
    for (const event of events) {
      yield event; // each costs less than by yield*
    }
    if (numbered.response.payload.case === "message" || isOver(sending)) {
      return true;
    }
  }
  return tracker.taskId !== undefined;
}

function isAnswer(failure: unknown): boolean {
  return failure instanceof ConnectError && failure.isWireError;
}

/**
 * The card promises streams and the server has none. A message to an existing task may be refused for other reasons.
 */
function lacksStreams(error: unknown, { message }: SendMessageRequest): boolean {
  if (!(error instanceof ConnectError)) {
    return false;
  }
  return (
    error.code === Code.Unimplemented ||
    (findA2AError(error)?.reason === "UNSUPPORTED_OPERATION" && message?.taskId === "")
  );
}
