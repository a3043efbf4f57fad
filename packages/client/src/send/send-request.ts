import { lifecycleExtension, userMessage } from "@a2a-connect/core";
import { isObject, shownText } from "@a2a-connect/core/internal";
import {
  type Part,
  type SendMessageRequest,
  SendMessageRequestSchema,
  type TaskPushNotificationConfig,
  TaskPushNotificationConfigSchema,
} from "@a2a-connect/proto";
import { create, type JsonObject } from "@bufbuild/protobuf";
import type { Input, InputMessage, PushConfigInput, SendOptions } from "../call-options.ts";

/** What to send, and its key. */
export interface SendRequestOptions
  extends Pick<
    SendOptions,
    "skill" | "priority" | "deadline" | "acceptedOutputModes" | "historyLength" | "metadata" | "pushConfig"
  > {
  readonly returnImmediately?: boolean;
}

/** The request of a send; `randomId` makes the message's id. */
export function createSendRequest(
  input: Input,
  options: SendRequestOptions,
  randomId: () => string,
): SendMessageRequest {
  const { parts, metadata, messageId = randomId(), ...rest } = toInputMessage(input);
  const { acceptedOutputModes, historyLength, returnImmediately, pushConfig } = options;
  const message = userMessage(parts, {
    messageId,
    ...(rest.contextId === undefined ? {} : { contextId: rest.contextId }),
    ...(rest.taskId === undefined ? {} : { taskId: rest.taskId }),
    ...(rest.referenceTaskIds === undefined ? {} : { referenceTaskIds: [...rest.referenceTaskIds] }),
    ...(rest.extensions === undefined ? {} : { extensions: [...rest.extensions] }),
    ...withLifecycle(metadata, options),
  });
  return create(SendMessageRequestSchema, {
    message,
    configuration: {
      ...(acceptedOutputModes === undefined ? {} : { acceptedOutputModes: [...acceptedOutputModes] }),
      ...(historyLength === undefined ? {} : { historyLength }),
      ...(returnImmediately === undefined ? {} : { returnImmediately }),
      ...(pushConfig === undefined ? {} : { taskPushNotificationConfig: createPushConfig(pushConfig) }),
    },
    ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
  });
}

/** A webhook as the protocol's message, for an existing or a future task. */
export function createPushConfig(
  { url, id, token, authentication }: PushConfigInput,
  taskId?: string,
): TaskPushNotificationConfig {
  return create(TaskPushNotificationConfigSchema, {
    url,
    ...(taskId === undefined ? {} : { taskId }),
    ...(id === undefined ? {} : { id }),
    ...(token === undefined ? {} : { token }),
    ...(authentication === undefined ? {} : { authentication }),
  });
}

/** The parts of an input: a string is one text part. */
export function toInputMessage(input: Input): InputMessage {
  if (typeof input === "string" || isParts(input)) {
    return { parts: input };
  }
  // Callers without types may give any value.
  const { parts } = (input ?? {}) as Partial<InputMessage>;
  if (typeof parts !== "string" && !Array.isArray(parts)) {
    const members = isObject(input) ? Object.keys(input).map(shownText).join(", ") : "";
    const given =
      members === "" ? `it is ${input === null ? "null" : typeof input}` : `it has only: ${members}`;
    throw new TypeError(
      `A message is a text, a list of parts, or an object with the member "parts" that is one of these; ${given}.`,
    );
  }
  return input;
}

function isParts(input: readonly Part[] | InputMessage): input is readonly Part[] {
  return Array.isArray(input);
}

/** The caller's wishes for the task, in the metadata of the message that starts it (lifecycle extension). */
function withLifecycle(
  metadata: JsonObject | undefined,
  { skill, priority, deadline }: SendRequestOptions,
): { metadata?: JsonObject } {
  if (skill === undefined && priority === undefined && deadline === undefined) {
    return metadata === undefined ? {} : { metadata };
  }
  const given = metadata?.[lifecycleExtension];
  const wanted = {
    ...(isObject(given) ? given : {}),
    ...(skill === undefined ? {} : { skill }),
    ...(priority === undefined ? {} : { priority }),
    ...(deadline === undefined ? {} : { deadline: deadline.toISOString() }),
  };
  return { metadata: { ...metadata, [lifecycleExtension]: wanted } };
}
