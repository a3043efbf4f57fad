import { isSettled, isTerminal, json, text } from "@a2a-connect/core";
import { formatMessage, matchesMediaType } from "@a2a-connect/core/internal";
import {
  MessageSchema,
  type Part,
  type SendMessageRequest,
  SendMessageRequestSchema,
  type Task,
  TaskState,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { type MessageInit, toRequest, untilSeen } from "./calls.ts";
import { listOf } from "./card-facts.ts";
import { expect } from "./expect.ts";
import { type RawRequest, type RawTask, sendRaw } from "./raw-calls.ts";
import type { Stage } from "./scenario.ts";
import { NotApplicable } from "./scenario.ts";

/** What it takes to say hello. */
type Hailed = Pick<Stage, "client" | "target">;

/** The words for an agent that nothing is known of. */
export const helloWords = "hello";

/** A part that the agent takes, by the input modes of its card: words or, where it takes none, JSON. */
export function helloPart({ target }: Pick<Stage, "target">): Part {
  const declared = target.card["defaultInputModes"];
  const modes = Array.isArray(declared) ? declared.filter((mode) => typeof mode === "string") : [];
  const takes = (type: string) => modes.some((mode) => mode === "text" || matchesMediaType(mode, type));
  if (modes.length === 0 || takes("text/plain")) return text(helloWords);
  if (takes("application/json")) return json({ text: helloWords });
  throw new NotApplicable(`the card takes neither text/plain nor application/json, only ${modes.join(", ")}`);
}

/** A message that any agent can answer somehow. */
export function hello(stage: Pick<Stage, "target">, init: MessageInit = {}): SendMessageRequest {
  return create(SendMessageRequestSchema, toRequest("", { parts: [helloPart(stage)], ...init }));
}

/** The message of a hello as JSON, with `members` beside or instead of its own. */
export function helloJson(stage: Pick<Stage, "target">, members: RawRequest = {}): RawRequest {
  const { message } = hello(stage);
  return {
    ...(message === undefined ? {} : (formatMessage(MessageSchema, message) as RawRequest)), // an object in JSON
    ...members,
  };
}

/** The task of a hello on a JSON wire, as it is written. @throws NotApplicable when the agent answers with a message */
export async function rawHelloTask(
  stage: Stage,
  members: RawRequest = {},
  configuration?: RawRequest,
): Promise<RawTask> {
  const { result, text: body } = await sendRaw(stage, helloJson(stage, members), configuration);
  if (result?.["message"] !== undefined) throw makesNoTask();
  expect(result?.task, body).toBeDefined();
  return result.task;
}

/** The task that comes of a hello, as it is answered. @throws NotApplicable when the agent answers with a message */
export async function helloTask(stage: Hailed, init: MessageInit = {}): Promise<Task> {
  const { payload } = await stage.client.sendMessage(hello(stage, init));
  if (payload.case !== "task") throw makesNoTask();
  return payload.value;
}

/**
 * The same once it has ended or asks for something.
 *
 * @throws NotApplicable when there is none, or it goes on for long
 * @throws Error when it has no state
 */
export async function settledTask(stage: Hailed, init: MessageInit = {}): Promise<Task> {
  const task = await helloTask(stage, init);
  if (task.status === undefined || task.status.state === TaskState.UNSPECIFIED) {
    throw new Error("the task of a hello has no state, or one that the protocol does not know");
  }
  if (isSettled(task.status.state)) return task;
  return untilSeen(stage.client, task.id, ({ status }) =>
    isSettled(status?.state ?? TaskState.UNSPECIFIED),
  ).catch((error: unknown) => {
    throw new NotApplicable("the task of a hello does not end for long", { cause: error });
  });
}

/** A task that has ended: by itself or, when it asks for something, by a cancel. @throws NotApplicable when there is none */
export async function endedTask(stage: Hailed, init: MessageInit = {}): Promise<Task> {
  const task = await settledTask(stage, init);
  if (isEnded(task)) return task;
  const canceled = await stage.client.cancelTask({ id: task.id }).catch((error: unknown) => {
    throw new NotApplicable("the task of a hello neither ends nor can be canceled", { cause: error });
  });
  if (!isEnded(canceled)) throw new NotApplicable("the task of a hello does not end");
  return canceled;
}

function makesNoTask(): NotApplicable {
  return new NotApplicable("the agent answers with a message, and makes no task");
}

/** Whether a task is in one of the four states that are final. */
export function isEnded({ status }: Task): boolean {
  return isTerminal(status?.state ?? TaskState.UNSPECIFIED);
}

/** A media type that no part of the card takes. @throws NotApplicable when the card takes every type */
export function requireForeignType({ target: { card } }: Pick<Stage, "target">): string {
  const mediaType = "application/x-foo";
  const modes = [card["defaultInputModes"], ...listOf(card["skills"]).map(({ inputModes }) => inputModes)];
  if (modes.flat().some((mode) => typeof mode === "string" && matchesMediaType(mode, mediaType))) {
    throw new NotApplicable("the card takes every media type");
  }
  return mediaType;
}
