import type { Message, Part, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "@a2a-connect/proto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { FollowOptions, SendOptions } from "../call-options.ts";
import type { ArtifactReader } from "../content/artifact-reader.ts";
import type { PushReceiver } from "./push-receiver.ts";

/** A task that waits for somebody. */
export interface Question {
  /** INPUT_REQUIRED or AUTH_REQUIRED: words or credentials. */
  readonly kind: "input" | "auth";
  readonly taskId: string;
  readonly contextId: string;
  /** What the agent asks, without terminal control sequences. */
  readonly text: string;
  /** The answers that fit, where the agent says so (`choices` in a data part of its message). */
  readonly choices: readonly string[] | undefined;
  /** JSON Schema that an answer's data fits, where the agent says so. */
  readonly schema: JsonObject | undefined;
  /** Whatever else it says for programs. */
  readonly details: JsonValue | undefined;
  /** The agent's message as it came. */
  readonly message: Message | undefined;
  readonly task: Task;
  /** Aborted when the answer is no longer wanted: the run has ended, or somebody else has answered. */
  readonly signal: AbortSignal;
}

/** What to do about a question: an answer, or the end of the task. `undefined`: nobody knows. */
export type Answer =
  | string
  | readonly Part[]
  | { readonly parts: string | readonly Part[]; readonly metadata?: JsonObject }
  | { readonly cancel: true }
  | undefined;

/** Answers questions. May be asked the same again when its answer did not fit. */
export type Resolver = (question: Question) => Answer | Promise<Answer>;

/**
 * Gets a task its credentials. `{ resolved: true }`: they are where the agent will find them, the task goes on by itself.
 * Anything else is sent to it, as an answer is.
 */
export type AuthResolver = (question: Question) => AuthAnswer | Promise<AuthAnswer>;

/** What became of a request for credentials. */
export type AuthAnswer = Answer | { readonly resolved: true };

/** How a task is seen through to its end. */
export interface ResumeOptions extends Omit<FollowOptions, "until" | "after"> {
  readonly onInputRequired?: Resolver;
  readonly onAuthRequired?: AuthResolver;
  /** Every change of status, also mere progress. Awaited; a throw ends the run and not the task. */
  readonly onProgress?: (update: TaskStatusUpdateEvent, task: Task) => void | Promise<void>;
  /** Every chunk and artifact. Awaited; a throw ends the run and not the task. */
  readonly onArtifact?: (update: TaskArtifactUpdateEvent, task: Task) => void | Promise<void>;
  /** The task exists: its id, before anything else happens. */
  readonly onTask?: (task: Task) => void | Promise<void>;
  /** How long the whole run may take; a new task is told it as its deadline, too. Default none. */
  readonly deadlineMs?: number;
  /**
   * Whether the task is canceled when `signal` is aborted, once it is known. Default false: it goes on, the run just ends.
   */
  readonly cancelOnAbort?: boolean;
}

/** How a run is conducted. */
export interface RunOptions extends ResumeOptions, Omit<SendOptions, "pushConfig"> {
  /** Be told by webhook instead of a stream, where the card has push notifications. */
  readonly push?: PushReceiver;
}

/** What came of a run. */
export interface RunResult {
  /** COMPLETED. Undefined when the agent answered with a Message. */
  readonly task: Task | undefined;
  /** The agent's direct answer, or what it said at the end. */
  readonly message: Message | undefined;
  readonly artifacts: readonly ArtifactReader[];
  /** By id or name. @throws AgentError naming those there are */
  artifact(idOrName: string): ArtifactReader;
  /** The text of all artifacts, or of the message where there are none, joined by line feeds. */
  text(): string;
}
