import type { JsonObject } from "@bufbuild/protobuf";

/** Why a running turn is told to stop. */
export type TurnAbortCause = "canceled" | "deadline" | "inactive" | "lost" | "shutdown";

/** `turn.signal.reason`: why the work should stop and, on cancel, the caller's metadata (requirement A-33). */
export class TurnAbort extends Error {
  override readonly cause: TurnAbortCause;
  /** `CancelTaskRequest.metadata`. */
  readonly metadata: JsonObject | undefined;

  constructor(cause: TurnAbortCause, metadata?: JsonObject) {
    super(sentences[cause]);
    this.name = "AbortError";
    this.cause = cause;
    this.metadata = metadata;
  }
}

const sentences: Readonly<Record<TurnAbortCause, string>> = {
  canceled: "the task was canceled",
  deadline: "the task's deadline has passed",
  inactive: "the agent has been silent for too long",
  lost: "this server no longer holds the task",
  shutdown: "the server is shutting down",
};
