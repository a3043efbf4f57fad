import type { Message, Part, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "@a2a-connect/proto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { FollowOptions, SendOptions } from "../call-options.ts";
import type { ArtifactReader } from "../content/artifact-reader.ts";
import type { PushReceiver } from "../follow/sources/push-receiver.ts";

/** The question of a task that waits for its caller. */
export interface Question {
  /** INPUT_REQUIRED or AUTH_REQUIRED: text or credentials. */
  readonly kind: "input" | "auth";
  readonly taskId: string;
  readonly contextId: string;
  /**
   * The agent's text, without terminal control sequences. Of a text with more than 1,048,576 characters it is the
   * beginning, and ends with `…`: `message` has the whole.
   */
  readonly text: string;
  /**
   * The possible answers, if the agent names them (`choices` in a data part of its message): at most 10,000, with at most
   * 1,048,576 characters together. Longer lists are in `message` alone.
   */
  readonly choices: readonly string[] | undefined;
  /** JSON Schema for an answer's data, if the agent gives one. */
  readonly schema: JsonObject | undefined;
  /** Further data for programs. */
  readonly details: JsonValue | undefined;
  /**
   * Which credentials are asked for, and where to sign in, if the agent says so. The URL is not checked: the agent wrote it. Either is
   * undefined when it has more than 16,000 characters; `message` has the whole.
   */
  readonly auth: { readonly scheme: string | undefined; readonly url: string | undefined } | undefined;
  /** The agent's message as received. */
  readonly message: Message | undefined;
  readonly task: Task;
  /** Aborts when the answer is no longer wanted: the run has ended, or another client has answered. */
  readonly signal: AbortSignal;
}

/** What to do about a question: an answer, or the end of the task. `undefined`: there is no answer. */
export type Answer =
  | string
  | readonly Part[]
  | { readonly parts: string | readonly Part[]; readonly metadata?: JsonObject }
  | { readonly cancel: true }
  | undefined;

/** Answers questions. It may be called again with the same question when its answer did not fit. */
export type Resolver = (question: Question) => Answer | Promise<Answer>;

/**
 * Supplies a task's credentials. `{ resolved: true }`: they are where the agent will find them, and the task goes on by
 * itself. Any other result is sent to the task, like an answer.
 */
export type AuthResolver = (question: Question) => AuthAnswer | Promise<AuthAnswer>;

/** The result of a request for credentials. */
export type AuthAnswer = Answer | { readonly resolved: true };

/** How to follow a task to its end. */
export interface ResumeOptions extends Omit<FollowOptions, "until" | "after"> {
  readonly onInputRequired?: Resolver;
  readonly onAuthRequired?: AuthResolver;
  /**
   * How often one question may come again after an answer, with nothing in between. Default 5. The run also ends when the
   * same answer did not fit twice. Either way it ends with a `QuestionRepeatedError`, and the task still waits.
   */
  readonly maxRepeats?: number;
  /** Gets every change of status, also mere progress. Awaited; an error ends the run and not the task. */
  readonly onProgress?: (update: TaskStatusUpdateEvent, task: Task) => void | Promise<void>;
  /** Gets every chunk and artifact. Awaited; an error ends the run and not the task. */
  readonly onArtifact?: (update: TaskArtifactUpdateEvent, task: Task) => void | Promise<void>;
  /** Gets the task's id before any other callback. */
  readonly onTask?: (task: Task) => void | Promise<void>;
  /** Time limit of the whole run; a new task without `deadline` gets it as its deadline, too. Default none. */
  readonly deadlineMs?: number;
  /** Whether to cancel a known task when `signal` aborts. Default false: the task goes on, and only the run ends. */
  readonly cancelOnAbort?: boolean;
}

/** Options of a run. */
export interface RunOptions extends ResumeOptions, Omit<SendOptions, "pushConfig"> {
  /** Receives events by webhook instead of a stream, if the card has push notifications. */
  readonly push?: PushReceiver;
}

/** The result of a run. */
export interface RunResult {
  /** The COMPLETED task. Undefined when the agent answered with a Message. */
  readonly task: Task | undefined;
  /** The agent's direct answer, or its last message. */
  readonly message: Message | undefined;
  readonly artifacts: readonly ArtifactReader[];
  /** By id or name. @throws AgentError with the names of all artifacts */
  artifact(idOrName: string): ArtifactReader;
  /** The text of all artifacts, or of the message where there are none, joined by line feeds. */
  text(): string;
  /**
   * The JSON of the first artifact with a data part, else of the first artifact; of the message where there are none. As
   * `ArtifactReader.json`.
   *
   * @throws AgentError when that is no JSON
   */
  json(): JsonValue;
  /** The same, validated. @throws UntrustedOutputError with the schema's issues */
  json<Schema extends StandardSchemaV1>(schema: Schema): Promise<StandardSchemaV1.InferOutput<Schema>>;
}
