import type { LifecycleReport } from "@a2a-connect/core";
import type { Artifact, Part, TaskState } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";

/** What a turn executor yields. The methods of `Turn` make it; its content is not for the author. */
export type TurnEvent = StatusEvent | ArtifactEvent | ReplyEvent;

/** What a durable executor yields. The methods of `DurableTask` make it; its content is not for the author. */
export type DurableEvent = StatusEvent | ArtifactEvent | QuestionEvent;

/** A change of status, or a text about progress. */
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
  /** JSON of its only part, which is made when the engine takes the event: hundreds of executors may make theirs at the same moment. */
  readonly data?: JsonValue | undefined;
  /** Adds to the artifact of that id if this attempt has begun it (or, with `continued`, an earlier turn). */
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

/** A question of a durable executor: its `yield` returns the caller's answer. */
export interface QuestionEvent {
  readonly kind: "question";
  readonly status: StatusEvent;
  /** Whether its answers are checked against a schema. */
  readonly isChecked: boolean;
}
