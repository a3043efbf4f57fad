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
import { ChatView } from "../chat/chat-view.ts";
import type { CommandContext } from "../context.ts";
import { createOutput, type Output } from "../output.ts";
import { EventPrinter } from "./event-printer.ts";

interface EventView {
  event(event: StreamResponse): Promise<void>;
}

/** What a sequence of events shows on a terminal without colours. */
async function showAll(
  events: readonly StreamResponse[],
  viewOf: (output: Output) => EventView = (output) => {
    const printer = new EventPrinter(output);
    return { event: (event) => printer.print(event) };
  },
): Promise<string[]> {
  let sent = "";
  const sink = {
    isTerminal: true,
    write: async (text: string): Promise<void> => {
      sent += text.replaceAll("\n", "\r\n"); // as terminals do
    },
  };
  const settings = { output: "text", stream: true, verbose: false } as const;
  const view = viewOf(createOutput({ stdout: sink, stderr: sink, env: { NO_COLOR: "1" } }, settings));
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
  message: ReturnType<typeof said>,
): StreamResponse =>
  create(StreamResponseSchema, {
    payload: {
      case: "task",
      value: create(TaskSchema, {
        id: "t1",
        status: { state: TaskState.WORKING, message },
        artifacts: [...artifacts],
      }),
    },
  });

describe("a task on a terminal", () => {
  for (const [what, events, rows] of [
    [
      "an artifact as it streams, its title once",
      [chunk("a", "one", false), chunk("a", "two"), chunk("a", "three")],
      ["Artifact: a", "  onetwothree"],
    ],
    [
      "the title again where artifacts alternate",
      [chunk("a", "1", false), chunk("b", "2", false), chunk("a", "3")],
      ["Artifact: a", "  1", "Artifact: b", "  2", "Artifact: a, continued", "  3"],
    ],
    [
      "an artifact that is replaced anew",
      [chunk("a", "old", false), chunk("a", "new", false)],
      ["Artifact: a", "  old", "Artifact: a", "  new"],
    ],
    [
      "of a snapshot only what was not shown before",
      [
        chunk("a", "one", false),
        snapshot([artifact("a", ["one", "two"]), artifact("b", ["three"])], said("1", "at it")),
        snapshot([artifact("a", ["one", "two"]), artifact("b", ["three"])], said("1", "at it")),
      ],
      [
        ...["Artifact: a", "  one", "State: working", "Text:", "at it", ""],
        ...["Artifact: a, continued", "  two", "Artifact: b", "  three"],
      ],
    ],
  ] as const) {
    it(`shows ${what}`, async () => expect(await showAll(events)).toEqual(["Task: t1", ...rows]));
  }

  it("shows another task anew", async () => {
    expect(await showAll([chunk("a", "one", false), chunk("a", "two", true, "t2")])).toEqual([
      ...["Task: t1", "Artifact: a", "  one"],
      ...["Task: t2", "Artifact: a, continued", "  two"],
    ]);
  });

  it("shows progress as a bar that is redrawn, and other words about the work as text, once", async () => {
    const bar = (progress: number) => status(TaskState.WORKING, said(`${progress}`, "reading", { progress }));
    expect(await showAll([bar(0.1), bar(0.25)])).toEqual(["Task: t1", "█████░░░░░░░░░░░░░░░  25% reading"]);
    expect(
      await showAll([
        bar(0.25),
        status(TaskState.WORKING, said("2", "thinking")),
        status(TaskState.WORKING, said("2", "thinking")),
        status(TaskState.WORKING, said("3", "odd", { progress: "half" })),
      ]),
    ).toEqual(["Task: t1", "State: working", "Text:", "thinking", "", "State: working", "Text:", "odd"]);
  });

  it("ends the line of a text that grows before a bar, and goes on below", async () => {
    const bar = status(TaskState.WORKING, said("1", "reading", { progress: 0.25 }));
    expect(await showAll([chunk("a", "one", false), bar, chunk("a", "two")])).toEqual([
      ...["Task: t1", "Artifact: a", "  one", "  two"],
    ]);
  });
});

describe("a question in a chat", () => {
  const ask = (question: StreamResponse) =>
    showAll([question], (output) => {
      const context = {} as CommandContext; // only a turn that has settled needs it
      return new ChatView(context, output, true);
    });

  it("has its choices", async () => {
    const question = create(MessageSchema, {
      messageId: "q",
      parts: [text("Which?"), json({ choices: ["a", "b"] })],
    });
    expect(await ask(status(TaskState.INPUT_REQUIRED, question))).toEqual([
      "Which?",
      "  1. a",
      "  2. b",
      "  answer with a number, or in words",
    ]);
  });

  it("says how to go on after signing in", async () => {
    expect(await ask(status(TaskState.AUTH_REQUIRED))).toEqual([
      "The agent wants credentials.",
      "  sign in, then press Enter to wait; other text goes to the agent",
    ]);
  });
});
