import { eventIdHeader } from "@a2a-connect/bindings";
import { sendHeadNow } from "@a2a-connect/bindings/server";
import { invalidParams, isTerminal } from "@a2a-connect/core";
import { lastEventIdHeader, stateOf } from "@a2a-connect/core/internal";
import type { StreamResponse } from "@a2a-connect/proto";
import type { HandlerContext } from "@connectrpc/connect";
import { taskEvent } from "../engine/events.ts";
import type { EndedTaskReader, TaskHandle } from "../engine/task-handle.ts";
import { answerCounterOf, showEvent, showTask } from "./operation.ts";

/** The differences between the streams of the two operations. */
export interface StreamOptions {
  readonly historyLength?: number | undefined;
  /** Whether an event after `handle.accepted` is the last of the stream. Default: only the task's last event is. */
  readonly closes?: (response: StreamResponse) => boolean;
}

/**
 * A task's stream: the task first (requirement A-22) unless the caller resumes after an event, then every later event,
 * until one that `closes` or the task's last. Releases the handle.
 *
 * The id of the first message is sent as a header, so that a caller can count on every wire (docs/streams.md).
 */
export async function* streamTask(
  handle: TaskHandle | EndedTaskReader,
  context: HandlerContext,
  { historyLength, closes = () => false }: StreamOptions = {},
): AsyncGenerator<StreamResponse> {
  try {
    const { cursor, accepted } = handle;
    const count = answerCounterOf(context);
    context.responseHeader.set(eventIdHeader, String(handle.first?.generation ?? cursor + 1));
    if (handle.first === undefined) {
      sendHeadNow(context); // the next event may take long, and the caller waits for that id
    } else {
      const { first } = handle;
      const isOver = isTerminal(stateOf(first.task));
      if (isOver) {
        await handle.settled(context.signal); // throws when the task has ended without reading the caller's message
      }
      const bytes = handle.weigh();
      count(bytes);
      yield taskEvent(showTask(first, context, historyLength));
      count(-bytes); // a reader that asks for the next event has taken this one
      if (isOver) {
        return;
      }
    }
    // The caller may have the event that closed the stream already. It is read again, and not sent again.
    for await (const event of handle.eventsAfter(Math.min(accepted, cursor), context.signal)) {
      if (event.generation > cursor) {
        count(event.weight);
        yield showEvent(event, context, historyLength);
        count(-event.weight);
      }
      if (event.generation > accepted && closes(event.response)) {
        return;
      }
    }
  } finally {
    handle.release();
  }
}

/**
 * The event after which a caller wants a stream to continue, from the header or the metadata `Last-Event-ID`; undefined
 * when it names none (requirement A-36). Event ids are the generations of a task.
 *
 * @throws ConnectError InvalidArgument when it is no decimal number, negative, or larger than any event id
 */
export function readLastEventId({
  requestHeader,
}: Pick<HandlerContext, "requestHeader">): number | undefined {
  const value = requestHeader.get(lastEventIdHeader);
  if (value === null) {
    return undefined;
  }
  const id = Number(value);
  if (!/^(0|[1-9]\d*)$/.test(value) || !Number.isSafeInteger(id)) {
    throw invalidParams({
      field: lastEventIdHeader,
      description: "must be the id of an event: a decimal number, 0 for all events from the creation on",
    });
  }
  return id;
}
