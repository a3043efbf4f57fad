import type { Question } from "@a2a-connect/client";
import { readQuestion } from "@a2a-connect/client/internal";
import { json, text } from "@a2a-connect/core";
import { type Part, TaskSchema, type TaskStatus } from "@a2a-connect/proto";
import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { defined, isObject, parseJson } from "../json.ts";

/** What there is to know about an answer: which choices there are, and which data fits. */
export type AnswerHints = Pick<Question, "choices" | "schema">;

/** Questions are read for as long as they are asked, so nothing is ever aborted. */
const never = new AbortController().signal;

/** The question of a status that waits; the agent wrote all of it. */
export function questionOf(status: TaskStatus | undefined): Question {
  return readQuestion(create(TaskSchema, defined({ status })), never);
}

/** The answer as parts: a choice by its number, JSON as data where a schema asks for data, else the words, which are not empty. */
export function toAnswer(words: string, { choices, schema }: AnswerHints): Part[] {
  if (choices !== undefined && !choices.includes(words) && /^\d{1,3}$/.test(words)) {
    return [text(choices[Number(words) - 1] ?? words)];
  }
  const data = schema === undefined ? undefined : (parseJson(words) as JsonValue | undefined);
  return [data === undefined ? text(words) : json(data)];
}

/** One line for people about which data fits: `{ people: integer, time: string }`, optional members with a `?`. */
export function describeSchema(schema: JsonObject): string {
  const { type, properties, required, enum: values } = schema;
  if (Array.isArray(values)) return `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
  if (!isObject(properties)) return typeof type === "string" ? type : "JSON";
  const needed = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(properties).map(([name, member]) => {
    const kind = isObject(member) && typeof member["type"] === "string" ? member["type"] : "any";
    return `${name}${needed.has(name) ? "" : "?"}: ${kind}`;
  });
  return `{ ${members.join(", ")} }`;
}
