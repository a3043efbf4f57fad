import { json, text } from "@a2a-connect/core";
import {
  ArtifactSchema,
  MessageSchema,
  type StreamResponse,
  StreamResponseSchema,
  TaskArtifactUpdateEventSchema,
  TaskSchema,
  TaskState,
  TaskStatusUpdateEventSchema,
} from "@a2a-connect/proto";
import { create, type JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { formatEnd, type Shown, Transcript } from "./transcript.ts";

/** What a sequence of events shows. */
function showAll(events: readonly StreamResponse[]): Shown[] {
  const transcript = new Transcript();
  return events.flatMap((event) => transcript.show(event));
}

const artifact = (id: string, words: readonly string[]) =>
  create(ArtifactSchema, { artifactId: id, name: id, parts: words.map((each) => text(each)) });

const chunk = (id: string, words: string, append = true, taskId = "t1"): StreamResponse =>
  create(StreamResponseSchema, {
    payload: {
      case: "artifactUpdate",
      value: create(TaskArtifactUpdateEventSchema, { taskId, artifact: artifact(id, [words]), append }),
    },
  });

const said = (messageId: string, words: string, report?: JsonObject) =>
  create(MessageSchema, {
    messageId,
    parts: [text(words)],
    ...(report === undefined ? {} : { metadata: { "urn:a2a-connect:ext:lifecycle:v1": report } }),
  });

const status = (state: TaskState, message?: ReturnType<typeof said>): StreamResponse =>
  create(StreamResponseSchema, {
    payload: {
      case: "statusUpdate",
      value: create(TaskStatusUpdateEventSchema, {
        taskId: "t1",
        status: { state, ...(message === undefined ? {} : { message }) },
      }),
    },
  });

const snapshot = (
  artifacts: readonly ReturnType<typeof artifact>[],
  state = TaskState.WORKING,
): StreamResponse =>
  create(StreamResponseSchema, {
    payload: {
      case: "task",
      value: create(TaskSchema, { id: "t1", status: { state }, artifacts: [...artifacts] }),
    },
  });

const title = (name: string, continued = false): Shown => ({ kind: "artifact", title: name, continued });
const piece = (words: string): Shown => ({ kind: "chunk", text: words });

describe("the transcript of a task", () => {
  it("shows an artifact as it streams, its title once", () => {
    expect(showAll([chunk("a", "one", false), chunk("a", "two"), chunk("a", "three")])).toEqual([
      title("a"),
      piece("one"),
      piece("two"),
      piece("three"),
    ]);
  });

  it("shows the title again where artifacts alternate", () => {
    expect(showAll([chunk("a", "1", false), chunk("b", "2", false), chunk("a", "3")])).toEqual([
      title("a"),
      piece("1"),
      title("b"),
      piece("2"),
      title("a", true),
      piece("3"),
    ]);
  });

  it("shows an artifact that is replaced anew", () => {
    expect(showAll([chunk("a", "old", false), chunk("a", "new", false)])).toEqual([
      title("a"),
      piece("old"),
      title("a"),
      piece("new"),
    ]);
  });

  it("shows of a snapshot only what was not shown before", () => {
    expect(
      showAll([
        chunk("a", "one", false),
        snapshot([artifact("a", ["one", "two"]), artifact("b", ["three"])]),
        snapshot([artifact("a", ["one", "two"]), artifact("b", ["three"])]),
      ]),
    ).toEqual([title("a"), piece("one"), piece("two"), title("b"), piece("three")]);
  });

  it("begins anew with another task", () => {
    expect(showAll([chunk("a", "one", false), chunk("a", "two", true, "t2")])).toEqual([
      title("a"),
      piece("one"),
      title("a"),
      piece("two"),
    ]);
  });

  it("shows progress as a bar, and other words about the work as lines", () => {
    expect(
      showAll([
        status(TaskState.WORKING),
        status(TaskState.WORKING, said("1", "reading", { progress: 0.25 })),
        status(TaskState.WORKING, said("2", "thinking")),
        status(TaskState.WORKING, said("2", "thinking")),
        status(TaskState.WORKING, said("3", "odd", { progress: "half" })),
      ]),
    ).toEqual([
      { kind: "progress", fraction: 0.25, text: "reading" },
      { kind: "step", text: "thinking" },
      { kind: "step", text: "odd" },
    ]);
  });

  it("shows a question with its choices", () => {
    const question = create(MessageSchema, {
      messageId: "q",
      parts: [text("Which?"), json({ choices: ["a", "b"] })],
    });
    expect(showAll([status(TaskState.INPUT_REQUIRED, question)])).toEqual([
      { kind: "question", wants: "input", text: "Which?", choices: ["a", "b"], schema: undefined },
    ]);
    expect(showAll([status(TaskState.AUTH_REQUIRED)])).toEqual([
      { kind: "question", wants: "auth", text: "", choices: [], schema: undefined },
    ]);
  });

  for (const [state, report, words] of [
    [TaskState.COMPLETED, {}, "completed"],
    [TaskState.FAILED, { reason: "no-paper" }, "failed (no-paper)"],
    [TaskState.CANCELED, { reason: "canceled" }, "canceled"],
    [TaskState.REJECTED, { reason: 7 }, "rejected"],
  ] as const) {
    it(`calls an end ${words}`, () => {
      const [end] = showAll([status(state, said("1", "so it is", report))]);
      expect(end).toMatchObject({ kind: "end", text: "so it is" });
      expect(end?.kind === "end" && formatEnd(end)).toBe(words);
    });
  }

  it("shows a direct message, and nothing of an event that has nothing in it", () => {
    const message = create(MessageSchema, { parts: [text("hello"), json({ a: 1 })] });
    expect(
      showAll([
        create(StreamResponseSchema),
        create(StreamResponseSchema, { payload: { case: "message", value: message } }),
      ]),
    ).toEqual([
      { kind: "words", text: "hello" },
      { kind: "data", text: '{\n  "a": 1\n}' },
    ]);
  });
});
