import { formatTaskState, partText, text } from "@a2a-connect/core";
import { MessageSchema, StreamResponseSchema, type Task, TaskSchema, TaskState } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  afterEvent,
  type ChatSession,
  composeMessage,
  createSession,
  openTask,
  waitingTask,
  waitsForAuth,
  withAttachments,
} from "./session.ts";

const event = create(StreamResponseSchema);
const taskIn = (state: TaskState): Task =>
  create(TaskSchema, { id: "t1", contextId: "c1", status: { state } });
const after = (state: TaskState): ChatSession => afterEvent(createSession(), event, taskIn(state));

describe("a conversation", () => {
  it("begins without a context, or with the one that is given", () => {
    expect(composeMessage(createSession(), "hello")).toEqual({ parts: [text("hello")] });
    expect(composeMessage(createSession("c0"), "hello")).toMatchObject({ contextId: "c0" });
  });

  for (const [state, next] of [
    [TaskState.INPUT_REQUIRED, { contextId: "c1", taskId: "t1" }],
    [TaskState.AUTH_REQUIRED, { contextId: "c1", taskId: "t1" }],
    [TaskState.COMPLETED, { contextId: "c1" }],
    [TaskState.FAILED, { contextId: "c1" }],
    [TaskState.WORKING, { contextId: "c1" }],
  ] as const) {
    it(`carries ${Object.keys(next).join(" and ")} on from ${formatTaskState(state)}`, () => {
      expect(composeMessage(after(state), "x")).toEqual({ parts: [text("x")], ...next });
    });
  }

  it("carries on the context of a direct message", () => {
    const message = create(MessageSchema, { contextId: "c2" });
    const said = create(StreamResponseSchema, { payload: { case: "message", value: message } });
    expect(afterEvent(createSession(), said, undefined).contextId).toBe("c2");
    const silent = create(StreamResponseSchema, {
      payload: { case: "message", value: create(MessageSchema) },
    });
    expect(afterEvent(createSession("c1"), silent, undefined).contextId).toBe("c1");
  });

  it("sends attachments behind the words, or alone", () => {
    const session = withAttachments(createSession(), [text("file")]);
    expect(composeMessage(session, "look").parts).toHaveLength(2);
    expect(partText({ parts: composeMessage(session, "").parts as ReturnType<typeof text>[] })).toBe("file"); // parts, never words
    expect(composeMessage(createSession(), "").parts).toEqual([]);
  });

  it("knows what waits and what can be canceled", () => {
    expect(waitingTask(after(TaskState.WORKING))).toBeUndefined();
    expect(openTask(after(TaskState.WORKING))?.id).toBe("t1");
    expect(openTask(after(TaskState.INPUT_REQUIRED))?.id).toBe("t1");
    expect(openTask(after(TaskState.COMPLETED))).toBeUndefined();
    expect(waitsForAuth(after(TaskState.INPUT_REQUIRED))).toBe(false);
    expect(waitsForAuth(after(TaskState.AUTH_REQUIRED))).toBe(true);
  });
});
