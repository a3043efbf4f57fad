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
import { showOnTerminal } from "../../test-support/terminal-model.ts";
import { Screen } from "./screen.ts";
import { TerminalView } from "./terminal-view.ts";

/** What a sequence of events shows on a terminal. */
async function showAll(events: readonly StreamResponse[]): Promise<string[]> {
  let sent = "";
  const write = async (text: string): Promise<void> => {
    sent += text.replaceAll("\n", "\r\n"); // as terminals do
  };
  const view = new TerminalView(
    new Screen(
      { isTerminal: true, write },
      { columns: () => 80, paint: (_, words) => words, quiet: async () => {} },
    ),
  );
  for (const event of events) await view.event(event);
  return showOnTerminal(sent, 80);
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

describe("a task on a terminal", () => {
  for (const [what, events, rows] of [
    [
      "an artifact as it streams, its title once",
      [chunk("a", "one", false), chunk("a", "two"), chunk("a", "three")],
      ["a:", "onetwothree"],
    ],
    [
      "the title again where artifacts alternate",
      [chunk("a", "1", false), chunk("b", "2", false), chunk("a", "3")],
      ["a:", "1", "b:", "2", "a, continued:", "3"],
    ],
    [
      "an artifact that is replaced anew",
      [chunk("a", "old", false), chunk("a", "new", false)],
      ["a:", "old", "a:", "new"],
    ],
    [
      "of a snapshot only what was not shown before",
      [
        chunk("a", "one", false),
        snapshot([artifact("a", ["one", "two"]), artifact("b", ["three"])]),
        snapshot([artifact("a", ["one", "two"]), artifact("b", ["three"])]),
      ],
      ["a:", "onetwo", "b:", "three"],
    ],
    [
      "another task anew",
      [chunk("a", "one", false), chunk("a", "two", true, "t2")],
      ["a:", "one", "a:", "two"],
    ],
  ] as const) {
    it(`shows ${what}`, async () => expect(await showAll(events)).toEqual(rows));
  }

  it("shows progress as a bar, and other words about the work as lines", async () => {
    const bar = status(TaskState.WORKING, said("1", "reading", { progress: 0.25 }));
    expect(await showAll([status(TaskState.WORKING), bar])).toEqual(["█████░░░░░░░░░░░░░░░  25% reading"]);
    expect(
      await showAll([
        bar,
        status(TaskState.WORKING, said("2", "thinking")),
        status(TaskState.WORKING, said("2", "thinking")),
        status(TaskState.WORKING, said("3", "odd", { progress: "half" })),
      ]),
    ).toEqual(["thinking", "odd"]);
  });

  it("shows a question with its choices", async () => {
    const question = create(MessageSchema, {
      messageId: "q",
      parts: [text("Which?"), json({ choices: ["a", "b"] })],
    });
    expect(await showAll([status(TaskState.INPUT_REQUIRED, question)])).toEqual([
      "Which?",
      "  1. a",
      "  2. b",
      "  answer with a number, or in words",
    ]);
    expect(await showAll([status(TaskState.AUTH_REQUIRED)])).toEqual([
      "The agent wants credentials.",
      "  sign in, then press Enter to wait; other text goes to the agent",
    ]);
  });

  for (const [state, report, words] of [
    [TaskState.COMPLETED, {}, "completed"],
    [TaskState.FAILED, { reason: "no-paper" }, "failed (no-paper)"],
    [TaskState.CANCELED, { reason: "canceled" }, "canceled"],
    [TaskState.REJECTED, { reason: 7 }, "rejected"],
  ] as const) {
    it(`calls an end ${words}`, async () => {
      const mark = state === TaskState.COMPLETED ? "✓" : "✗";
      const shown = await showAll([status(state, said("1", "so it is", report))]);
      expect(shown).toEqual(["so it is", `${mark} ${words}`]);
    });
  }

  it("shows a direct message, and nothing of an event that has nothing in it", async () => {
    const message = create(MessageSchema, { parts: [text("hello"), json({ a: 1 })] });
    expect(
      await showAll([
        create(StreamResponseSchema),
        create(StreamResponseSchema, { payload: { case: "message", value: message } }),
      ]),
    ).toEqual(["hello", "{", '  "a": 1', "}"]);
  });
});
