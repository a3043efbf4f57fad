import { partText } from "@a2a-connect/core";
import { isObject, toJsonValue, visibleText } from "@a2a-connect/core/internal";
import { type Message, type Task, TaskState } from "@a2a-connect/proto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Question } from "./run-types.ts";

/** The question of an interrupted task. Its content is not trusted: the agent wrote it. */
export function readQuestion(task: Task, signal: AbortSignal): Question {
  const message = task.status?.message;
  const asked = findProgramForm(message);
  return {
    kind: task.status?.state === TaskState.AUTH_REQUIRED ? "auth" : "input",
    taskId: task.id,
    contextId: task.contextId,
    text: message === undefined ? "" : visibleText(partText(message)),
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
    return typeof member === "string" ? visibleText(member) : undefined;
  };
  return { scheme: read("scheme"), url: read("url") };
}

function readChoices(value: JsonValue | undefined): readonly string[] | undefined {
  return Array.isArray(value) && value.length > 0 && value.every((choice) => typeof choice === "string")
    ? value.map(visibleText)
    : undefined;
}
