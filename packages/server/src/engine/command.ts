import { decodeMessage, encodeMessage } from "@a2a-connect/core/internal";
import { SendMessageRequestSchema } from "@a2a-connect/proto";
import { create, type JsonObject } from "@bufbuild/protobuf";
import type { Grant } from "../agent/grant.ts";
import type { TaskCaller } from "../agent/task-tools.ts";

/** What came with a message and is not part of it, or instead of one. */
export interface CallDetails {
  /** What the task was granted: then there is no message of the caller. */
  readonly grant?: Grant | undefined;
  /** What the sender's credentials say, beyond the owner of the task. Without credentials there is nothing. */
  readonly caller?: Pick<TaskCaller, "scopes" | "claims"> | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly acceptedOutputModes?: readonly string[];
  readonly extensions?: readonly string[];
}

/** Whether there is anything to note of a message that its caller has sent. */
export function hasDetails({
  metadata,
  acceptedOutputModes = [],
  extensions = [],
  caller,
}: CallDetails): boolean {
  return (
    metadata !== undefined || acceptedOutputModes.length > 0 || extensions.length > 0 || caller !== undefined
  );
}

/** Why an executor is told to stop for good. */
export type StopCause = "canceled" | "deadline" | "inactive";

/** A note of the engine in a task's log. Callers never see it; a restart reads it. */
export type Command =
  /** What came with the first message, or with the latest answer; written when the code may run again. */
  | ({ readonly type: "call" } & CallDetails)
  /** The input with this sequence came while the executor was at work. */
  | ({ readonly type: "queued"; readonly input: number } & CallDetails)
  /** The task was granted what it asked for; WORKING follows, as after an answer. */
  | { readonly type: "grant"; readonly grant: Grant }
  /** A turn was begun for that queued input. */
  | { readonly type: "turn"; readonly input: number }
  /** The turn waits for a slot: no user code of it has run. */
  | { readonly type: "waiting" }
  /** A waiting turn has got its slot, or the code of a durable executor is called after a start. */
  | { readonly type: "begun" }
  /** The process has not ended in the run of a durable executor that began before. `atRest`: it has come to where it only waits. */
  | { readonly type: "survived"; readonly atRest?: true }
  /** The turn began again. */
  | { readonly type: "restart" }
  /** The executor was told to stop. */
  | {
      readonly type: "stop";
      readonly cause: StopCause;
      readonly metadata?: JsonObject | undefined;
    }
  | { readonly type: "deadline-passed" }
  /** Written only to store a new wake time. */
  | { readonly type: "timer-moved" };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A command, and when it was written (milliseconds since 1970); older logs do not say when. */
export type LoggedCommand = Command & { readonly at?: number };

/** Stands between the parts of a payload. JSON has it as an escape only. */
const separator = 0;

/**
 * A command as the payload of its entry: JSON, and behind a zero the metadata, as a SendMessageRequest that has nothing else. JSON of a
 * caller's text may take six times its bytes, and as many times longer to write.
 */
export function encodeCommand(command: LoggedCommand): Uint8Array {
  const { metadata, ...rest } = { metadata: undefined, ...command };
  const json = encoder.encode(JSON.stringify(rest));
  if (metadata === undefined) return json;
  const binary = encodeMessage(SendMessageRequestSchema, create(SendMessageRequestSchema, { metadata }));
  const payload = new Uint8Array(json.length + 1 + binary.length);
  payload.set(json);
  payload.set(binary, json.length + 1);
  return payload;
}

/** The command in an entry's payload. Older logs have the metadata in the JSON. */
export function decodeCommand(payload: Uint8Array): LoggedCommand {
  const command = decodeCommandHead(payload);
  const end = payload.indexOf(separator);
  if (end === -1) return command;
  const { metadata } = decodeMessage(SendMessageRequestSchema, payload.subarray(end + 1));
  return { ...command, metadata } as LoggedCommand;
}

/** The same, perhaps without its metadata, which may have megabytes. */
export function decodeCommandHead(payload: Uint8Array): LoggedCommand {
  const end = payload.indexOf(separator);
  const json = end === -1 ? payload : payload.subarray(0, end);
  return JSON.parse(decoder.decode(json)) as LoggedCommand; // only `encodeCommand` writes them
}
