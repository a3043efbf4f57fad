import { invalidParams, type MethodLocalName, principalKey, tenantKey } from "@a2a-connect/core";
import {
  draftProtocolVersion,
  extensionsKey,
  protocolVersionKey,
  runtimeKey,
  unsentKey,
} from "@a2a-connect/core/internal";
import type { A2AService, StreamResponse, Task } from "@a2a-connect/proto";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { CallDetails } from "../engine/command.ts";
import { type CommittedEvent, taskEvent } from "../engine/events.ts";
import type { Caller } from "../engine/live-tasks.ts";
import type { CountBytes } from "../engine/read-task.ts";
import type { SeenTask } from "../engine/task-handle.ts";
import { callerNameOf } from "../gates/caller-names.ts";
import type { Owner } from "../store/task-store.ts";

/** The implementation of one RPC: translates and delegates. Gates have let the call pass. */
export type Operation<Name extends MethodLocalName> = ServiceImpl<typeof A2AService>[Name];

/** Who calls, for operations that read or keep tasks. Its signal is made when it is needed. */
export function callerOf(context: HandlerContext): Caller {
  return { owner: ownerOf(context), share: callerNameOf(context), signal: () => context.signal };
}

/** The owner of the tasks that a call may reach. */
export function ownerOf({ values }: HandlerContext): Owner {
  return { tenant: values.get(tenantKey), principal: values.get(principalKey).id };
}

/** Counts the memory that the answer to a call takes, until the runtime has sent it (on our Node port: `serveExchange`). */
export function answerCounterOf({ values }: HandlerContext): CountBytes {
  if (values.get(unsentKey)) return () => {};
  const connection = values.get(runtimeKey);
  return (bytes) => connection.countUnread?.(bytes);
}

/** Whether the caller uses A2A 1.1: for all others its fields do not exist (requirement R-7). */
export function speaksDraft({ values }: HandlerContext): boolean {
  return values.get(protocolVersionKey) === draftProtocolVersion;
}

/** The extensions that are active in a call. */
export function extensionsOf({ values }: HandlerContext): readonly string[] {
  return values.get(extensionsKey);
}

/** What the caller's credentials say, to be kept with the task; undefined when they say no more than who calls. */
export function credentialsOf({ values }: HandlerContext): CallDetails["caller"] {
  const { scopes = [], claims = {} } = values.get(principalKey);
  return scopes.length === 0 && Object.keys(claims).length === 0 ? undefined : { scopes, claims };
}

/** A task in the caller's protocol version: only A2A 1.1 has generations (requirement R-7). */
export function showTask(
  { task, generation }: SeenTask,
  context: HandlerContext,
  historyLength: number | undefined,
): Task {
  const shown = withHistoryLength(task, historyLength);
  return speaksDraft(context) ? { ...shown, generation: BigInt(generation) } : shown;
}

/**
 * An event in the caller's protocol version. All callers of one version get the same object, so that it is encoded
 * once. Only a task with a shortened history is another object.
 */
export function showEvent(
  event: CommittedEvent,
  context: HandlerContext,
  historyLength: number | undefined,
): StreamResponse {
  const shown = speaksDraft(context) ? event.numberedResponse : event.response;
  return historyLength !== undefined && shown.payload.case === "task"
    ? taskEvent(withHistoryLength(shown.payload.value, historyLength))
    : shown;
}

/**
 * The task with at most the newest `historyLength` messages of its history; all of them when it is not set
 * (requirements C-1, C-2).
 */
function withHistoryLength(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined || task.history.length <= historyLength) {
    return task;
  }
  return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
}

/** Refuses a negative length. */
export function assertHistoryLength(field: string, historyLength: number | undefined): void {
  if (historyLength !== undefined && historyLength < 0) {
    throw invalidParams({ field, description: `must not be negative, but is ${historyLength}` });
  }
}
