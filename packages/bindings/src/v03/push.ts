import { formatJsonInPieces, formatLazily, isLarge } from "@a2a-connect/core/internal";
import { type Task, type TaskPushNotificationConfig, TaskSchema } from "@a2a-connect/proto";
import type { Message } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { createForms } from "./forms.ts";

/**
 * A field that `TaskPushNotificationConfig` does not have: who reads the config by its descriptor does not see it. It stays
 * with the config in every store, and is taken from no caller, because wires drop unknown fields.
 */
const mark = { no: 100_000, wireType: WireType.Varint, data: Uint8Array.of(1) };

/** Marks the push config in a request: its webhook is to be told in the words of older versions. */
export function markPushConfig(request: Message): void {
  const { $typeName: name } = request;
  if (name === "lf.a2a.v1.TaskPushNotificationConfig") {
    request.$unknown = [mark];
  } else if (name === "lf.a2a.v1.SendMessageRequest" && "configuration" in request) {
    const { taskPushNotificationConfig: config } = (request.configuration ?? {}) as {
      readonly taskPushNotificationConfig?: Message;
    }; // by the type's name
    if (config !== undefined) {
      config.$unknown = [mark];
    }
  }
}

/** Whether the webhook of a config is told in the words of older versions. */
export function isOlderConfig({ $unknown = [] }: TaskPushNotificationConfig): boolean {
  return $unknown.some(({ no }) => no === mark.no);
}

const { task: taskForm } = createForms("json");

/** What such a webhook is told: the whole task, as JSON; a large one in pieces, which are made while they are read. */
export function writeOlderTask(task: Task): string | Iterable<string> {
  const older = taskForm.toOlder(formatLazily(TaskSchema, task));
  return isLarge(task) ? formatJsonInPieces(older, pieceLength) : JSON.stringify(older);
}

/** In characters. */
const pieceLength = 64 * 1024;
