import { formatTaskState, text } from "@a2a-connect/core";
import { MessageSchema, StreamResponseSchema, TaskSchema, TaskState } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ChatSession } from "./session.ts";

const event = create(StreamResponseSchema);

function after(state: TaskState): ChatSession {
  const session = new ChatSession();
  session.follow(event, create(TaskSchema, { id: "t1", contextId: "c1", status: { state } }));
  return session;
}

describe("a conversation", () => {
  it("begins without a context, or with the one that is given", () => {
    expect(new ChatSession().compose("hello")).toEqual({ parts: [text("hello")] });
    expect(new ChatSession("c0").compose("hello")).toMatchObject({ contextId: "c0" });
  });

  for (const [state, next] of [
    [TaskState.INPUT_REQUIRED, { contextId: "c1", taskId: "t1" }],
    [TaskState.AUTH_REQUIRED, { contextId: "c1", taskId: "t1" }],
    [TaskState.COMPLETED, { contextId: "c1" }],
    [TaskState.FAILED, { contextId: "c1" }],
    [TaskState.WORKING, { contextId: "c1" }],
  ] as const) {
    it(`carries ${Object.keys(next).join(" and ")} on from ${formatTaskState(state)}`, () => {
      expect(after(state).compose("x")).toEqual({ parts: [text("x")], ...next });
    });
  }

  it("carries on the context of a direct message", () => {
    const session = new ChatSession("c1");
    for (const [said, contextId] of [
      ["", "c1"],
      ["c2", "c2"],
    ] as const) {
      const message = create(MessageSchema, { contextId: said });
      session.follow(
        create(StreamResponseSchema, { payload: { case: "message", value: message } }),
        undefined,
      );
      expect(session.contextId).toBe(contextId);
    }
  });

  it("sends attachments behind the words, or alone", () => {
    const session = new ChatSession();
    expect(session.compose("").parts).toEqual([]);
    session.attachments = [text("file")];
    expect(session.compose("look").parts).toEqual([text("look"), text("file")]);
    expect(session.compose("").parts).toEqual([text("file")]);
  });

  it("knows what waits and what can be canceled", () => {
    for (const [state, waits, isOpen, waitsForAuth] of [
      [TaskState.WORKING, false, true, false],
      [TaskState.INPUT_REQUIRED, true, true, false],
      [TaskState.AUTH_REQUIRED, true, true, true],
      [TaskState.COMPLETED, false, false, false],
    ] as const) {
      const { waiting, open, waitingForAuth } = after(state);
      expect([waiting?.id, open?.id, waitingForAuth?.id]).toEqual(
        [waits, isOpen, waitsForAuth].map((each) => (each ? "t1" : undefined)),
      );
    }
  });
});
