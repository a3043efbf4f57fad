import { formatCode } from "@a2a-connect/bindings/client";
import { findA2AError, findFieldViolations, isSettled, type RpcMethod, text } from "@a2a-connect/core";
import { statusOfEvent } from "@a2a-connect/core/internal";
import {
  type ListTasksRequestSchema,
  type Message,
  type Part,
  Role,
  type SendMessageConfigurationSchema,
  type SendMessageRequestSchema,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
  TaskState,
} from "@a2a-connect/proto";
import { type JsonObject, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect } from "./expect.ts";
import type { Stage } from "./scenario.ts";
import { type A2AClient, meanwhile } from "./target.ts";

/** An id that nothing else has. */
export const newId = (): string => crypto.randomUUID();

/** What a message may have beside its words. */
export interface MessageInit {
  readonly messageId?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly referenceTaskIds?: string[];
  readonly metadata?: JsonObject;
  readonly parts?: Part[];
  readonly tenant?: string;
  readonly configuration?: MessageInitShape<typeof SendMessageConfigurationSchema>;
}

/** A send of one message by the user. */
export function toRequest(
  words: string,
  { configuration, tenant = "", ...init }: MessageInit = {},
): MessageInitShape<typeof SendMessageRequestSchema> {
  return {
    tenant,
    message: { messageId: newId(), role: Role.USER, parts: [text(words)], ...init },
    ...(configuration === undefined ? {} : { configuration }),
  };
}

/** Sends and returns the task of the answer. */
export async function sendTask(client: A2AClient, words: string, init?: MessageInit): Promise<Task> {
  return taskOf(await client.sendMessage(toRequest(words, init)));
}

/** The task in an answer; fails when it is a message. */
export function taskOf({ payload }: SendMessageResponse | StreamResponse): Task {
  if (payload.case !== "task") throw new Error(`expected a task, got ${payload.case}`);
  return payload.value;
}

/** The message in an answer; fails when it is a task. */
export function messageOf({ payload }: SendMessageResponse | StreamResponse): Message {
  if (payload.case !== "message") throw new Error(`expected a message, got ${payload.case}`);
  return payload.value;
}

/** All events of a stream, to its end. */
export function readAll(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  return meanwhile(Array.fromAsync(stream));
}

/** A stream that is read event by event. */
export interface StreamReader {
  /** The next event; fails when the stream has ended. */
  next(): Promise<StreamResponse>;
  /** All events that are left, to the end. */
  rest(): Promise<StreamResponse[]>;
}

/** Reads a stream event by event. */
export function openReader(stream: AsyncIterable<StreamResponse>): StreamReader {
  const iterator = stream[Symbol.asyncIterator]();
  return {
    async next() {
      const step = await iterator.next();
      if (step.done === true) {
        throw new Error("the stream has ended");
      }
      return step.value;
    },
    rest: () => readAll({ [Symbol.asyncIterator]: () => iterator }),
  };
}

/** The task that a stream begins with. */
export function firstTask([first]: readonly StreamResponse[]): Task {
  if (first === undefined) throw new Error("the stream has no event");
  return taskOf(first);
}

/** What each event of a stream is, in order. */
export function casesOf(events: readonly StreamResponse[]): (string | undefined)[] {
  return events.map(({ payload }) => payload.case);
}

/** What the stream of a task is that makes one artifact and completes. */
export const casesOfWork = ["task", "statusUpdate", "artifactUpdate", "statusUpdate"] as const;

/** The ids of the tasks on the first page of a list. */
export async function listedIds(
  client: A2AClient,
  request: MessageInitShape<typeof ListTasksRequestSchema>,
): Promise<string[]> {
  return (await client.listTasks(request)).tasks.map(({ id }) => id);
}

/** What a call is answered with, and that header of the answer; the call has to be made with this `onHeader`. */
export async function readHeader<Answer>(
  name: string,
  call: (onHeader: (header: Headers) => void) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly header: string | null | undefined }> {
  let header: string | null | undefined;
  const answer = await call((received) => {
    header = received.get(name);
  });
  return { answer, header };
}

/** The states that a stream tells of, in order. */
export function statesOf(events: readonly StreamResponse[]): TaskState[] {
  return events.flatMap((event) => {
    const state = statusOfEvent(event)?.state;
    return state === undefined ? [] : [state];
  });
}

/** The JSON of a part of structured data; undefined for any other. */
export function partData(part: Part | undefined): JsonValue | undefined {
  return part?.content.case === "data" ? toJson(ValueSchema, part.content.value) : undefined;
}

/** The texts of all artifacts of a task, part by part. */
export function artifactTexts({ artifacts }: Task): string[] {
  return artifacts.flatMap(({ parts }) => parts.map(({ content }) => String(content.value)));
}

/** Calls any operation with a request that has what all of them require; a stream is read to its end. */
export async function callAny(client: A2AClient, { localName }: RpcMethod): Promise<unknown> {
  const request = { id: "t", taskId: "t", url: "https://example.com/", ...toRequest("task") };
  const call = client[localName] as (request: object) => AnyCall; // one request fits all operations
  const answer = call(request);
  return Symbol.asyncIterator in answer ? readAll(answer) : answer;
}

/** Starts a task of the reference agent that is WORKING until it is canceled. */
export async function startWorking({ client }: Pick<Stage, "client">, init: MessageInit = {}): Promise<Task> {
  const configuration = { ...init.configuration, returnImmediately: true };
  const { id } = await sendTask(client, "until-canceled", { ...init, configuration });
  return untilSeen(client, id, ({ status }) => status?.state === TaskState.WORKING);
}

/** When a task that should have become something is given up: less than a test may take. */
const patienceMs = 5_000;

/** Reads a task until it is as `wanted`: what an agent has said can be seen when it is durable, a moment later. */
export async function untilSeen(
  client: A2AClient,
  id: string,
  wanted: (task: Task) => boolean,
): Promise<Task> {
  const signal = AbortSignal.timeout(patienceMs);
  for (;;) {
    try {
      const task = await client.getTask({ id }, { signal });
      if (wanted(task)) {
        return task;
      }
    } catch (error) {
      if (findA2AError(error)?.reason !== "TASK_NOT_FOUND") {
        throw error;
      }
    }
  }
}

/** Waits for something that no call of this side brings about. @throws Error with `sentence` when it takes too long */
export async function withinPatience<Value>(wanted: Promise<Value>, sentence: () => string): Promise<Value> {
  const signal = AbortSignal.timeout(patienceMs);
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(new Error(sentence())), { once: true });
  return Promise.race([wanted, promise]);
}

/** Waits until the task has ended or asks for something, and returns it. */
export async function settle(client: A2AClient, id: string): Promise<Task> {
  try {
    for await (const event of client.subscribeToTask({ id })) {
      if (statesOf([event]).some(isSettled)) {
        break;
      }
    }
  } catch (error) {
    // A task that has ended cannot be subscribed to.
    if (findA2AError(error)?.reason !== "UNSUPPORTED_OPERATION") {
      throw error;
    }
  }
  return client.getTask({ id });
}

/** A call under way, of either kind. */
type AnyCall = Promise<unknown> | AsyncIterable<StreamResponse>;

/** What a call failed with; fails when it did not. Streams are read to their end. */
export async function failureOf(call: AnyCall): Promise<ConnectError> {
  try {
    await (Symbol.asyncIterator in call ? readAll(call) : call);
  } catch (error) {
    expect(error).toBeInstanceOf(ConnectError);
    const failure = ConnectError.from(error);
    if (!failure.isWireError) throw new Error(`there is no error of this wire: ${failure.message}`);
    return failure;
  }
  throw new Error("the call was answered, and had to fail");
}

/** A code of gRPC as people know it, with its number: `NOT_FOUND (5)`. */
export function showCode(code: number | string | null | undefined): string {
  if (!/^\d+$/.test(String(code))) return `no code of gRPC (${code})`;
  return `${Number(code) === 0 ? "OK" : formatCode(Number(code))} (${code})`;
}

/** Expects a call to fail with that code, and returns the error. */
export async function expectCode(call: AnyCall, code: Code): Promise<ConnectError> {
  const error = await failureOf(call);
  expect(showCode(error.code), error.message).toBe(showCode(code));
  return error;
}

/** Expects a call to be invalid for these fields, and returns the error. */
export async function expectFields(call: AnyCall, ...fields: readonly string[]): Promise<ConnectError> {
  const error = await expectCode(call, Code.InvalidArgument);
  expect(findFieldViolations(error).map(({ field }) => field)).toStrictEqual(fields);
  return error;
}

/** Expects a call to fail for that reason of the error catalogue, and returns the error. */
export async function expectReason(call: AnyCall, reason: string): Promise<ConnectError> {
  const error = await failureOf(call);
  expect(findA2AError(error)?.reason, error.message).toBe(reason);
  return error;
}
