import { partText } from "@a2a-connect/core";
import { isObject, toJsonValue, visibleBeginning, visibleText } from "@a2a-connect/core/internal";
import { type Message, type Task, TaskState } from "@a2a-connect/proto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Question } from "./run-types.ts";

/**
 * Longest text of a question, and of its choices together, in UTF-16 units. An agent's answer may be far longer: to make
 * it visible would keep the process from its other work.
 */
const maxLength = 2 ** 20;

const maxChoices = 10_000;

/** Longest name of a scheme, and longest URL, in UTF-16 units. */
const maxAuthLength = 16_000;

/** The question of an interrupted task. Its content is not trusted: the agent wrote it. */
export function readQuestion(task: Task, signal: AbortSignal): Question {
  const message = task.status?.message;
  const asked = findProgramForm(message);
  return {
    kind: task.status?.state === TaskState.AUTH_REQUIRED ? "auth" : "input",
    taskId: task.id,
    contextId: task.contextId,
    text: message === undefined ? "" : visibleBeginning(partText(message), maxLength),
    choices: readChoices(asked?.["choices"]),
    schema: isObject(asked?.["schema"]) ? asked["schema"] : undefined,
    details: asked?.["details"],
    auth: readAuth(asked?.["auth"]),
    message,
    task,
    signal,
  };
}

/** What our servers put beside the text: `choices`, `schema`, `details`, `auth` in a data part. */
function findProgramForm(message: Message | undefined): JsonObject | undefined {
  for (const { content } of message?.parts ?? []) {
    if (content.case === "data") {
      const value = toJsonValue(content.value);
      if (isObject(value)) {
        return value;
      }
    }
  }
  return undefined;
}

function readAuth(value: JsonValue | undefined): Question["auth"] {
  if (!isObject(value)) {
    return undefined;
  }
  const read = (name: string) => {
    const member = value[name];
    return typeof member === "string" && member.length <= maxAuthLength ? visibleText(member) : undefined;
  };
  return { scheme: read("scheme"), url: read("url") };
}

function readChoices(value: JsonValue | undefined): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxChoices) return undefined;
  if (!value.every((choice) => typeof choice === "string")) return undefined;
  const length = value.reduce((sum, choice) => sum + choice.length, 0);
  return length <= maxLength ? value.map(visibleText) : undefined;
}
