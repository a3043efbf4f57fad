import { eventIdHeader } from "@a2a-connect/bindings";
import { formatMessage } from "@a2a-connect/core/internal";
import { StreamResponseSchema, type TaskPushNotificationConfig } from "@a2a-connect/proto";
import { decodeEvent } from "../engine/log-codec.ts";
import type { LogEvent } from "../store/task-store.ts";

/** The request to a webhook for one event. */
export interface Notification {
  readonly headers: Headers;
  /** Bytes, because a request with bytes has a Content-Length and is not chunked (requirement N-8). */
  readonly body: Uint8Array<ArrayBuffer>;
}

const tokenHeader = "X-A2A-Notification-Token";

/**
 * The notification of an event: a StreamResponse of A2A 1.0 as JSON, for every wire that the task came over
 * (requirements N-1 to N-3). `x-a2a-event-id` has the event's generation; with the task id in the body it tells a
 * receiver which events it has seen already.
 *
 * @throws Error when the event was damaged, or the config has a value that a header cannot carry
 */
export function createNotification(config: TaskPushNotificationConfig, event: LogEvent): Notification {
  const headers = new Headers({
    "content-type": "application/a2a+json",
    [eventIdHeader]: String(event.generation),
  });
  const { token, authentication } = config;
  if (authentication !== undefined && authentication.credentials !== "") {
    headers.set("authorization", `${authentication.scheme} ${authentication.credentials}`);
  }
  if (token !== "") {
    headers.set(tokenHeader, token);
  }
  return {
    headers,
    body: new TextEncoder().encode(JSON.stringify(formatMessage(StreamResponseSchema, decodeEvent(event)))),
  };
}

/** The first field of a config whose value a header cannot carry; undefined when all can be sent. */
export function findUnsendableField({
  token,
  authentication,
}: TaskPushNotificationConfig): string | undefined {
  const fields = [
    ["token", token],
    ["authentication.scheme", authentication?.scheme ?? ""],
    ["authentication.credentials", authentication?.credentials ?? ""],
  ] as const;
  return fields.find(([, value]) => !headerValue.test(value))?.[0];
}

/** Values that `Headers` accepts and a receiver can read: no control characters, nothing beyond Latin-1. */
const headerValue = /^[\t\x20-\x7e\xa0-\xff]*$/;
