import type { Part, TaskState } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";

/** What a caller hands over: words, parts, or a message's worth of both. */
export type Input = string | readonly Part[] | InputMessage;

/** A message before it has its id. */
export interface InputMessage {
  readonly parts: string | readonly Part[];
  /** Goes on with a conversation: a new task in it. */
  readonly contextId?: string;
  /** Goes on with a task: the answer to its question. */
  readonly taskId?: string;
  readonly referenceTaskIds?: readonly string[];
  readonly metadata?: JsonObject;
  readonly extensions?: readonly string[];
  /** Default a UUID. */
  readonly messageId?: string;
}

/** What every call may be told. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Sent with this call. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a message is sent. */
export interface SendOptions extends CallOptions {
  /** Id of the skill that is to do it (lifecycle extension). Its input modes are checked. */
  readonly skill?: string;
  /** Media types that the caller can use. Default any. */
  readonly acceptedOutputModes?: readonly string[];
  readonly historyLength?: number;
  /** Metadata of the request, beside the message's own. */
  readonly metadata?: JsonObject;
  /** A webhook for the task. */
  readonly pushConfig?: PushConfigInput;
  /**
   * Names this send, so that it may be repeated. Default: one of ours where the card says that the agent honours keys
   * (`idempotencyKeys` of the lifecycle extension), else none, and then the message is sent only once.
   */
  readonly idempotencyKey?: string;
}

/** A webhook, as it is registered. */
export interface PushConfigInput {
  readonly url: string;
  readonly id?: string;
  /** Comes back in `X-A2A-Notification-Token`. */
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials?: string };
}

/** How a task is followed. */
export interface FollowOptions extends CallOptions {
  /** The last event that is known: what comes after it is delivered. `0`: everything since the creation. */
  readonly after?: number;
  /**
   * Where it ends: `terminal` with the task, `settled` as soon as it has ended or waits for somebody.
   * Default `terminal`.
   */
  readonly until?: "settled" | "terminal";
  /** Interval of polls where there are no streams, at least 2,000 unless `allowFastPolling`. Default 2 s. */
  readonly pollIntervalMs?: number;
  /** Permits intervals below 2 s; tells `onWarning`. */
  readonly allowFastPolling?: boolean;
}

/** Which tasks are listed. */
export interface ListTasksOptions extends CallOptions {
  readonly contextId?: string;
  readonly status?: TaskState;
  /** Those whose status is of this time or later. */
  readonly since?: Date;
  /** Tasks a page, 1 to 100. Default the server's. */
  readonly pageSize?: number;
  /** Where to begin: a `nextPageToken`. */
  readonly pageToken?: string;
  readonly historyLength?: number;
  readonly includeArtifacts?: boolean;
}
