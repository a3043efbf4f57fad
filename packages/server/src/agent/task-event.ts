import type { LifecycleReport } from "@a2a-connect/core";
import type { Artifact, Part, TaskState } from "@a2a-connect/proto";

/** What a turn executor yields. Made by the methods of `Turn`; opaque to the author. */
export type TurnEvent = StatusEvent | ArtifactEvent | ReplyEvent;

/** What a durable executor yields. Made by the methods of `DurableTask`; opaque to the author. */
export type DurableEvent = StatusEvent | ArtifactEvent | QuestionEvent;

/** A change of status, or a word about progress. */
export interface StatusEvent {
  readonly kind: "status";
  readonly state: Exclude<TaskState, typeof TaskState.UNSPECIFIED | typeof TaskState.SUBMITTED>;
  /** Parts of the status message; none: no message. */
  readonly parts: readonly Part[];
  readonly report: LifecycleReport;
}

/** An artifact, whole or a chunk of it. */
export interface ArtifactEvent {
  readonly kind: "artifact";
  readonly artifact: Artifact;
  /** Adds to the artifact of that id when this attempt has begun it (or `continued` says an earlier turn has). */
  readonly mode: "whole" | "chunk" | "continued";
  readonly last: boolean;
  /** Whether a sealed artifact of that id may be replaced by this one later. */
  readonly replaceable: boolean;
}

/** A direct Message instead of a task; in a task that exists, the message of the completing status. */
export interface ReplyEvent {
  readonly kind: "reply";
  readonly parts: readonly Part[];
}

/** A question that a durable executor waits at: the caller's message is what its `yield` gives back. */
export interface QuestionEvent {
  readonly kind: "question";
  readonly status: StatusEvent;
}
