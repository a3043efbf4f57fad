import { randomUUID } from "node:crypto";
import {
  type ListTasksRequest,
  type Message,
  type Part,
  Role,
  type SendMessageConfiguration,
  type SendMessageRequest,
  TaskState,
} from "@a2a-js/sdk";

/** What a test says about a request; everything else is as the SDK wants it when it is not said. */
export interface Sending {
  readonly message?: Partial<Message>;
  readonly configuration?: Partial<SendMessageConfiguration>;
  readonly metadata?: Record<string, unknown>;
}

/** The content of a part as the SDK has it. */
export type PartContent = NonNullable<Part["content"]>;

/** A part of the SDK. */
export function sdkPart(content: PartContent, details: Partial<Part> = {}): Part {
  return { content, metadata: undefined, filename: "", mediaType: "", ...details };
}

/** A request of the SDK that sends a text, or other parts. */
export function sending(
  text: string,
  { message, configuration, metadata }: Sending = {},
): SendMessageRequest {
  return {
    tenant: "",
    message: {
      messageId: randomUUID(),
      contextId: "",
      taskId: "",
      role: Role.ROLE_USER,
      parts: [sdkPart({ $case: "text", value: text })],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...message,
    },
    configuration: configuration && {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: false,
      ...configuration,
    },
    metadata,
  };
}

/** A request of the SDK that lists the tasks of a context. */
export function listing(contextId: string, filters: Partial<ListTasksRequest> = {}): ListTasksRequest {
  return {
    tenant: "",
    contextId,
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: "",
    statusTimestampAfter: undefined,
    ...filters,
  };
}

/** The text of parts, joined. */
export function textOf(parts: readonly Part[] | undefined): string {
  return (parts ?? []).map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");
}
