import type { InputMessage } from "@a2a-connect/client";
import { isInterrupted, isTerminal } from "@a2a-connect/core";
import { type Part, type StreamResponse, type Task, TaskState } from "@a2a-connect/proto";
import { stateOf } from "../task/following.ts";
import { questionOf, toAnswer } from "./question.ts";

/** Where a conversation stands. The same whatever it is shown on. */
export interface ChatSession {
  /** The conversation, as the agent calls it; undefined: the next message begins one. */
  readonly contextId: string | undefined;
  /** The last task, whatever became of it. */
  readonly task: Task | undefined;
  /** What goes with the next message. */
  readonly attachments: readonly Part[];
}

/** A conversation that begins, or goes on where `--context-id` says. */
export function createSession(contextId?: string): ChatSession {
  return { contextId, task: undefined, attachments: [] };
}

/** The task that waits for an answer, to which the next message goes (a2a-cli §8.1). */
export function waitingTask({ task }: ChatSession): Task | undefined {
  return task !== undefined && isInterrupted(stateOf(task)) ? task : undefined;
}

/** The task that has not ended, so that it can be canceled. */
export function openTask({ task }: ChatSession): Task | undefined {
  return task !== undefined && !isTerminal(stateOf(task)) ? task : undefined;
}

/** Whether nothing but an outside step is waited for, so that the user may just go on waiting. */
export function waitsForAuth(session: ChatSession): boolean {
  const task = waitingTask(session);
  return task !== undefined && stateOf(task) === TaskState.AUTH_REQUIRED;
}

/** The message that words make now: an answer where a task waits, else a new task of the conversation. */
export function composeMessage(session: ChatSession, words: string): InputMessage {
  const waiting = waitingTask(session);
  const said = words === "" ? [] : toAnswer(words, questionOf(waiting?.status));
  const parts = [...said, ...session.attachments];
  return {
    parts,
    ...(session.contextId === undefined ? {} : { contextId: session.contextId }),
    ...(waiting === undefined ? {} : { taskId: waiting.id }),
  };
}

/** The conversation with other attachments. */
export function withAttachments(session: ChatSession, attachments: readonly Part[]): ChatSession {
  return { ...session, attachments };
}

/** The conversation after an event; `task` is the task as of it. */
export function afterEvent(
  session: ChatSession,
  { payload }: StreamResponse,
  task: Task | undefined,
): ChatSession {
  const contextId = payload.case === "message" ? payload.value.contextId : task?.contextId;
  return { ...session, contextId: contextId || session.contextId, task: task ?? session.task };
}
