import { json, partText, text } from "@a2a-connect/core";
import { toJsonValue } from "@a2a-connect/core/internal";
import type { Message, Part } from "@a2a-connect/proto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { assertSchema, findMismatch, isTooLong, tooLong } from "./answer-schema.ts";
import { type AuthHint, authMember, type Grant, withLink } from "./grant.ts";
import type { QuestionOptions } from "./turn.ts";

/** What an agent asks, and which answers fit. */
export interface Question extends QuestionOptions {
  readonly text: string;
  /** The answers that fit, case and surrounding space aside. */
  readonly choices?: readonly string[];
  /**
   * JSON Schema (2020-12) for the answer's data: its first data part, else its text parsed as JSON. Write no `pattern` with nested
   * repetitions, such as `^(\w+\s?)*$`: one answer of forty characters makes it run for hours.
   */
  readonly schema?: JsonObject;
  /**
   * How often it is asked again because an answer did not fit, 0 or more. After that the task is CANCELED with reason
   * `answer-invalid`. Default 5.
   */
  readonly maxRepeats?: number;
  /** Further values for a caller's program. */
  readonly details?: JsonValue;
}

/** What an agent needs credentials for. Choices and schema are for answers that are messages: a grant always fits. */
export interface AuthRequest extends Question, AuthHint {
  /**
   * Whether only `AgentServer.grant` continues the task: a message is answered with the request again, `maxRepeats` times at
   * most. Default false: a message continues it, and means no more than the agent takes it to mean.
   */
  readonly requireGrant?: boolean;
}

/** What the caller answered. */
export interface Answer {
  /** The caller's message; without parts for a grant. */
  readonly message: Message;
  /** What was granted out of band; undefined: the caller has sent a message, which by itself authorises nothing. */
  readonly grant: Grant | undefined;
  /** All text parts, joined without a separator; with choices, the choice in the question's spelling. */
  readonly text: string;
  /** The first data part; with a schema, the value that was checked against it. */
  readonly data: JsonValue | undefined;
}

/** `Question.maxRepeats`, when it is not given. */
export const defaultMaxRepeats = 5;

/**
 * Refuses a question that no answer can fit.
 *
 * @throws Error when it has an empty list of choices, an invalid schema, or a negative `maxRepeats`
 */
export function assertAnswerable({ choices, schema, maxRepeats = defaultMaxRepeats }: Question): void {
  if (choices?.length === 0) {
    throw new Error("a question with choices has at least one");
  }
  if (!(maxRepeats >= 0)) {
    throw new RangeError(`maxRepeats must be 0 or more and is ${maxRepeats}`);
  }
  if (schema !== undefined) assertSchema(schema);
}

/** The parts of a question: its text and what else it has, the same as data for programs. */
export function questionParts(question: AuthRequest, problem?: string): Part[] {
  const { text: words, choices, schema, details } = question;
  const parts = withLink([text(problem === undefined ? words : `${problem} ${words}`)], question);
  const data = {
    ...(choices === undefined ? {} : { choices: [...choices] }),
    ...(schema === undefined ? {} : { schema }),
    ...(details === undefined ? {} : { details }),
    ...authMember(question),
  };
  return Object.keys(data).length === 0 ? [...parts] : [...parts, json(data)];
}

/**
 * The answer in a message or a grant, or a sentence for the sender of the message that says why it does not fit.
 *
 * @param grant what was granted instead of a message
 */
export function readAnswer(
  question: AuthRequest,
  message: Message,
  grant: Grant | undefined,
): Answer | string {
  const words = partText(message);
  const data = findData(message);
  if (grant !== undefined) {
    return { message, grant, text: words, data };
  }
  if (question.requireGrant === true) {
    return "This message does not sign you in.";
  }
  if (question.choices !== undefined) {
    return chooseAnswer(question.choices, typeof data === "string" ? data : words, message, data);
  }
  if (question.schema !== undefined) {
    if (data === undefined && isTooLong(words)) return tooLong;
    return checkAnswer(question.schema, message, data ?? parseText(words), words);
  }
  return { message, grant, text: words, data };
}

function chooseAnswer(
  choices: readonly string[],
  given: string,
  message: Message,
  data: JsonValue | undefined,
): Answer | string {
  if (isTooLong(given)) return tooLong;
  const wanted = normalize(given);
  const choice = choices.find((candidate) => normalize(candidate) === wanted);
  return choice === undefined
    ? `Please answer with one of: ${choices.join(", ")}.`
    : { message, grant: undefined, text: choice, data };
}

function checkAnswer(
  schema: JsonObject,
  message: Message,
  data: JsonValue | undefined,
  words: string,
): Answer | string {
  if (data === undefined) {
    return "Please answer with data: a data part, or JSON as text.";
  }
  return findMismatch(schema, data) ?? { message, grant: undefined, text: words, data };
}

function normalize(answer: string): string {
  return answer.trim().toLowerCase();
}

function findData({ parts }: Message): JsonValue | undefined {
  for (const { content } of parts) {
    if (content.case === "data") {
      return toJsonValue(content.value);
    }
  }
  return undefined;
}

function parseText(words: string): JsonValue | undefined {
  try {
    return JSON.parse(words);
  } catch {
    return undefined;
  }
}
