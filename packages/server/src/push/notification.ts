import { eventIdHeader } from "@a2a-connect/bindings";
import { encodeInTurns, runInTurns, writeOlderTask } from "@a2a-connect/bindings/server";
import { decodeInSteps, formatOnce } from "@a2a-connect/core/internal";
import { StreamResponseSchema, type Task, type TaskPushNotificationConfig } from "@a2a-connect/proto";
import type { LogEvent } from "../store/task-store.ts";

/** The request to a webhook for one event. */
export interface Notification {
  readonly headers: Headers;
  /** One piece, or about 64 KiB in each. */
  readonly body: readonly Uint8Array[];
  /** Size of the body. */
  readonly bytes: number;
}

const tokenHeader = "X-A2A-Notification-Token";

/**
 * The notification of an event: a StreamResponse of A2A 1.0 as JSON, for every wire that the task came over
 * (requirements N-1 to N-3). `x-a2a-event-id` has the event's generation; with the task id in the body it tells a
 * receiver which events it has seen already. A large one is made in slices, and other calls run in between.
 *
 * @param caller whose webhook it is (`nextSlice`)
 * @param older the task as it is after the event, for a webhook that an older caller has registered: it gets the whole task, or its
 *   status alone when the task would take more than so many bytes
 * @throws Error (as a rejection) when the event was damaged, or the config has a value that a header cannot carry
 */
export async function createNotification(
  config: TaskPushNotificationConfig,
  event: LogEvent,
  caller: string | undefined,
  older?: { readonly task: Task; readonly maxBytes: number },
): Promise<Notification> {
  const headers = new Headers({
    "content-type": older === undefined ? "application/a2a+json" : "application/json",
    [eventIdHeader]: String(event.generation),
  });
  const { token, authentication } = config;
  if (authentication !== undefined && authentication.credentials !== "") {
    headers.set("authorization", `${authentication.scheme} ${authentication.credentials}`);
  }
  if (token !== "") {
    headers.set(tokenHeader, token);
  }
  const whole =
    older &&
    (await runInTurns(encodeWithin(older.maxBytes, writeOlderTask(older.task)), caller, "notification"));
  const body = whole ?? (await encodeRest(event, caller, older?.task));
  return { headers, body, bytes: body.reduce((sum, { length }) => sum + length, 0) };
}

const encoder = new TextEncoder();

/** The text as bytes; undefined when they are more than that. The JSON of a character may be six times its bytes. */
function* encodeWithin(
  maxBytes: number,
  text: string | Iterable<string>,
): Generator<number, readonly Uint8Array[] | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (const each of typeof text === "string" ? [text] : text) {
    const piece = encoder.encode(each);
    bytes += piece.length;
    if (bytes > maxBytes) return undefined;
    pieces.push(piece);
    yield piece.length;
  }
  return pieces;
}

/** The event, or of a task its status alone. */
async function encodeRest(
  event: LogEvent,
  caller: string | undefined,
  task: Task | undefined,
): Promise<readonly Uint8Array[]> {
  const text =
    task === undefined
      ? await writeEvent(event, caller)
      : writeOlderTask({ ...task, history: [], artifacts: [] });
  return encodeInTurns(typeof text === "string" ? [text] : text, caller, "notification");
}

async function writeEvent(
  { payload }: LogEvent,
  caller: string | undefined,
): Promise<string | Iterable<string>> {
  const response = await runInTurns(decodeInSteps(StreamResponseSchema, payload), caller, "notification");
  return formatOnce(StreamResponseSchema, response);
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
