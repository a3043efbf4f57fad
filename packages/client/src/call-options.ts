import type { Priority } from "@a2a-connect/core";
import type { Part, TaskState } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import { type ContextKey, createContextKey } from "@connectrpc/connect";

/** What a caller sends: a text, parts, or a message's parts and metadata. */
export type Input = string | readonly Part[] | InputMessage;

/** A message before it has its id. */
export interface InputMessage {
  readonly parts: string | readonly Part[];
  /** Continues a conversation: a new task in this context. */
  readonly contextId?: string;
  /** Continues a task: the answer to its question. */
  readonly taskId?: string;
  readonly referenceTaskIds?: readonly string[];
  readonly metadata?: JsonObject;
  readonly extensions?: readonly string[];
  /** Default a UUID. */
  readonly messageId?: string;
}

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Sent with this call. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How to send a message. */
export interface SendOptions extends CallOptions {
  /** Id of the skill that shall do the work (lifecycle extension). The client tests its input modes. */
  readonly skill?: string;
  /** Which of this caller's tasks that wait at the agent starts first (lifecycle extension). Default the agent's, `normal`. */
  readonly priority?: Priority;
  /** When the agent cancels the task if it has not ended (lifecycle extension). Default none. */
  readonly deadline?: Date;
  /** Media types that the caller accepts. Default any. */
  readonly acceptedOutputModes?: readonly string[];
  readonly historyLength?: number;
  /** Metadata of the request, beside the message's own. */
  readonly metadata?: JsonObject;
  /** A webhook for the task. */
  readonly pushConfig?: PushConfigInput;
  /**
   * Identifies this send, so that it may be repeated. Default: a key of the client's own if the card says that the
   * agent honours keys (`idempotencyKeys` of the lifecycle extension). Otherwise there is no key, and the client sends
   * the message only once.
   */
  readonly idempotencyKey?: string;
}

/** A webhook to register. */
export interface PushConfigInput {
  readonly url: string;
  readonly id?: string;
  /** The agent sends it in `X-A2A-Notification-Token`. */
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials?: string };
}

/** How to follow a task. */
export interface FollowOptions extends CallOptions {
  /** The last known event: later events are delivered. `0`: all events since the creation. */
  readonly after?: number;
  /**
   * When to stop: `terminal` when the task has ended, `settled` as soon as it has ended or waits for its caller.
   * Default `terminal`.
   */
  readonly until?: "settled" | "terminal";
  /** Interval of polls when the agent has no streams, at least 2,000 unless `allowFastPolling` is set. Default 2 s. */
  readonly pollIntervalMs?: number;
  /** Permits intervals below 2 s, with a call of `onWarning`. */
  readonly allowFastPolling?: boolean;
}

/** Which tasks to list. */
export interface ListTasksOptions extends CallOptions {
  readonly contextId?: string;
  readonly status?: TaskState;
  /** Tasks whose status has this time or a later one. */
  readonly since?: Date;
  /** Tasks in a page, 1 to 100. Default the server's. */
  readonly pageSize?: number;
  /** Where to begin: a `nextPageToken`. */
  readonly pageToken?: string;
  readonly historyLength?: number;
  readonly includeArtifacts?: boolean;
}

/** Set for a call whose caller judges the response itself: verifies it first, then shows it to `inspect`. */
export const judgedLaterKey: ContextKey<boolean> = createContextKey<boolean>(false, {
  description: "the caller verifies and inspects the response",
});
