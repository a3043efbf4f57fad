import { type LifecycleReport, readLifecycleReport } from "@a2a-connect/core";
import { shownText, visibleBeginning } from "@a2a-connect/core/internal";
import type { AgentCard, AgentInterface, Message, Task } from "@a2a-connect/proto";
import type { StandardSchemaV1 } from "@standard-schema/spec";

/**
 * Longest message of an error, in UTF-16 units. It may repeat what an agent said, whose text may be as long as its
 * answer: to make that visible would take long, and every log would have it.
 */
const maxMessageLength = 16_000;

/** An error's message, which may be shown in terminals and logs. */
export function errorMessage(text: string): string {
  return visibleBeginning(text, maxMessageLength);
}

/** What to do about a failure, and what it came of. */
interface Explanation {
  readonly hint?: string;
  readonly cause?: unknown;
}

/**
 * Failures on the client's side of a call, and every end of a task without a result. A server's answer to a single
 * operation stays a ConnectError (`findA2AError` of core names it).
 *
 * `hint` says what to do next. A message has at most 16,000 characters of what the agent said; the whole is in the
 * task, where there is one.
 */
export abstract class AgentError extends Error {
  abstract readonly code: string;
  readonly hint: string | undefined;

  constructor(message: string, options: Explanation = {}) {
    super(errorMessage(message), options.cause === undefined ? {} : { cause: options.cause });
    this.name = new.target.name;
    this.hint = options.hint === undefined ? undefined : errorMessage(options.hint);
  }
}

/** The card could not be fetched: no such host, TLS, 404, a web page in its place. Where nothing listens: UnreachableError. */
export class CardNotFoundError extends AgentError {
  readonly code = "card-not-found";
  /** The URL that was tried. */
  readonly url: string;

  constructor(url: string, message: string, options?: Explanation) {
    super(message, options);
    this.url = url;
  }
}

/** What was found is not a usable card. `problems` names the fields. */
export class CardInvalidError extends AgentError {
  readonly code = "card-invalid";
  readonly problems: readonly string[];

  constructor(message: string, problems: readonly string[], options?: Explanation) {
    super(message, options);
    this.problems = problems;
  }
}

/**
 * The card is not trusted: `verifyCard`, or a trust policy, refused it. The client used nothing in it; the cause has
 * the reason.
 */
export class CardRefusedError extends AgentError {
  readonly code = "card-refused";
  /** The task for which a message was meant, if there is one: it still exists, and nothing was sent. */
  readonly taskId: string | undefined;

  constructor(message: string, options: Explanation & { readonly taskId?: string | undefined } = {}) {
    super(message, options);
    this.taskId = options.taskId;
  }
}

/** The card has no interface that this client can, or may, use. */
export class NoInterfaceError extends AgentError {
  readonly code = "no-interface";
  readonly offered: readonly AgentInterface[];

  constructor(message: string, offered: readonly AgentInterface[], options?: Explanation) {
    super(message, options);
    this.offered = offered;
  }
}

/** The agent cannot do what `requires` demands. Nothing was sent. */
export class RequirementError extends AgentError {
  readonly code = "requirement-missing";
  /** What is missing, such as `streaming` or `skills: summarize`. */
  readonly missing: readonly string[];

  constructor(message: string, missing: readonly string[], options?: Explanation) {
    super(message, options);
    this.missing = missing;
  }
}

/** The card is not the expected one (`expect`). Nothing was sent. */
export class CardExpectationError extends AgentError {
  readonly code = "card-unexpected";
}

/** The skill does not accept these parts. Nothing was sent. */
export class InputModeError extends AgentError {
  readonly code = "input-mode";
  readonly mediaTypes: readonly string[];

  constructor(message: string, mediaTypes: readonly string[], options?: Explanation) {
    super(message, options);
    this.mediaTypes = mediaTypes;
  }
}

/** The agent's card has changed, and the call failed for that reason. */
export class CardDriftError extends AgentError {
  readonly code = "card-drift";
  /** One sentence for each change. */
  readonly changes: readonly string[];
  readonly card: AgentCard;

  constructor(message: string, changes: readonly string[], card: AgentCard, options?: Explanation) {
    super(message, options);
    this.changes = changes;
    this.card = card;
  }
}

/** The agent could not be reached, or not reached again, within the limits. */
export class UnreachableError extends AgentError {
  readonly code = "unreachable";
  /** The followed task, if there is one: it goes on without the client. */
  readonly taskId: string | undefined;

  constructor(message: string, options: Explanation & { readonly taskId?: string | undefined } = {}) {
    super(message, options);
    this.taskId = options.taskId;
  }
}

/**
 * A message was sent, no answer came, and the agent may or may not have taken it. The client did not send it again,
 * because the agent does not promise to take it once.
 */
export class SendUncertainError extends AgentError {
  readonly code = "send-uncertain";
  readonly messageId: string;

  constructor(message: string, messageId: string, options?: Explanation) {
    super(message, options);
    this.messageId = messageId;
  }
}

/** The agent broke the protocol: an event without payload, a Task in place of a Message, missing events. */
export class InvalidResponseError extends AgentError {
  readonly code = "invalid-response";
}

/** An inspector (`inspect`) or a schema refused a value. The caller got nothing of it. */
export class UntrustedOutputError extends AgentError {
  readonly code = "untrusted-output";
  /** What a Standard Schema found wrong; empty when an inspector refused. */
  readonly issues: readonly StandardSchemaV1.Issue[];

  constructor(
    message: string,
    options: Explanation & { readonly issues?: readonly StandardSchemaV1.Issue[] } = {},
  ) {
    super(message, options);
    this.issues = options.issues ?? [];
  }
}

/** A file, an answer, or a followed task is over its limit. */
export class ContentTooLargeError extends AgentError {
  readonly code = "content-too-large";
  readonly maxBytes: number;

  /** @param what begins the sentence: `the file "a.pdf"` */
  constructor(what: string, maxBytes: number, options?: Explanation) {
    super(`${what} is larger than the limit of ${maxBytes} bytes`, options);
    this.maxBytes = maxBytes;
  }
}

/** The caller's `deadlineMs` has passed. */
export class RunTimeoutError extends AgentError {
  readonly code = "timeout";
  readonly taskId: string | undefined;
  readonly task: Task | undefined;

  constructor(message: string, taskId: string | undefined, task: Task | undefined, options?: Explanation) {
    super(message, options);
    this.taskId = taskId;
    this.task = task;
  }
}

/** A task that ended without a result, or waits. */
export abstract class TaskError extends AgentError {
  readonly taskId: string;
  readonly contextId: string;
  /** The current task, with its artifacts. */
  readonly task: Task;
  /** The reason for programs, if the agent gives one: lifecycle extension, `reason`. */
  readonly reason: string | undefined;
  readonly report: LifecycleReport;
  /** What the agent said last. */
  readonly statusMessage: Message | undefined;

  constructor(message: string, task: Task, options?: Explanation) {
    super(message, options);
    this.task = task;
    this.taskId = task.id;
    this.contextId = task.contextId;
    this.statusMessage = task.status?.message;
    this.report = readLifecycleReport(task.status?.message?.metadata);
    this.reason = typeof this.report.reason === "string" ? this.report.reason : undefined;
  }
}

/** The task ended as FAILED. */
export class TaskFailedError extends TaskError {
  readonly code = "task-failed";
}

/** The task ended as CANCELED: `reason` says why. */
export class TaskCanceledError extends TaskError {
  readonly code = "task-canceled";
}

/** The agent refused the task. It never began: when the cause is gone, you may send it again. */
export class TaskRejectedError extends TaskError {
  readonly code = "task-rejected";
}

/** The task asks a question, and there is no callback to answer. It can still be answered. */
export class InputRequiredError extends TaskError {
  readonly code = "input-required";
}

/** The task asks the same question again and again, although it was answered. It can still be answered. */
export class QuestionRepeatedError extends TaskError {
  readonly code = "question-repeated";
  readonly question: string;
  /** The last answer: its text, or its parts as JSON. */
  readonly answer: string;

  constructor(task: Task, question: string, answer: string, repeats: number) {
    const answered = answer === "" ? "" : ` The last answer was ${JSON.stringify(shownText(answer))}.`;
    super(
      `Task ${task.id} asks again, for the ${repeats + 1}. time: ${JSON.stringify(shownText(question))}.${answered}`,
      task,
      { hint: `Task ${task.id} still waits: answer it with something else, or cancel it.` },
    );
    this.question = question;
    this.answer = answer;
  }
}

/** The task wants credentials, and there is no callback to supply them. It goes on when it has them. */
export class AuthRequiredError extends TaskError {
  readonly code = "auth-required";
}

/** A callback threw, or returned an answer that cannot be sent. The task still waits and can be answered. */
export class CallbackError extends TaskError {
  readonly code = "callback-failed";
}
