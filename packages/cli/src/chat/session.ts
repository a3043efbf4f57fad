import type { InputMessage } from "@a2a-connect/client";
import { isInterrupted, isTerminal } from "@a2a-connect/core";
import { stateOf } from "@a2a-connect/core/internal";
import { type Part, type StreamResponse, type Task, TaskState } from "@a2a-connect/proto";
import { defined } from "../json.ts";
import { questionOf, toAnswer } from "./question.ts";

/** Where a conversation stands. Knows nothing of the terminal. */
export class ChatSession {
  /** The conversation, as the agent calls it; undefined: the next message begins one. */
  contextId: string | undefined;
  task: Task | undefined;
  /** What goes with the next message. */
  attachments: readonly Part[] = [];

  constructor(contextId?: string) {
    this.contextId = contextId;
  }

  /** The task that waits for an answer, to which the next message goes (a2a-cli §8.1). */
  get waiting(): Task | undefined {
    return this.task !== undefined && isInterrupted(stateOf(this.task)) ? this.task : undefined;
  }

  /** The task that has not ended, so that it can be canceled. */
  get open(): Task | undefined {
    return this.task !== undefined && !isTerminal(stateOf(this.task)) ? this.task : undefined;
  }

  /** The task that waits for nothing but an outside step, so that the user may just go on waiting. */
  get waitingForAuth(): Task | undefined {
    return this.task !== undefined && stateOf(this.task) === TaskState.AUTH_REQUIRED ? this.task : undefined;
  }

  /** The message that words make now: an answer where a task waits, else a new task of the conversation. */
  compose(words: string): InputMessage {
    const { waiting, contextId } = this;
    const said = words === "" ? [] : toAnswer(words, questionOf(waiting?.status));
    return { parts: [...said, ...this.attachments], ...defined({ contextId, taskId: waiting?.id }) };
  }

  /** Takes up what an event says; `task` is the task as of it. */
  follow({ payload }: StreamResponse, task: Task | undefined): void {
    this.contextId =
      (payload.case === "message" ? payload.value.contextId : task?.contextId) || this.contextId;
    this.task = task ?? this.task;
  }
}
