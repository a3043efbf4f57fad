import { agentMessage, text, userMessage } from "@a2a-connect/core";
import {
  type ArtifactSchema,
  type StreamResponse,
  StreamResponseSchema,
  TaskSchema,
  TaskState,
  type TaskStatusSchema,
} from "@a2a-connect/proto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ContentTooLargeError } from "../errors.ts";
import { TaskSize } from "./task-size.ts";

const maxBytes = 100_000;
const long = "x".repeat(10_000);

/** They take some 100 bytes each in memory, of which their characters are the least. */
const shortNames = (at: number) =>
  Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`${at}-${index}`, 1]));

describe("the size of a followed task", () => {
  it.each<[string, (at: number) => StreamResponse]>([
    ["text", () => chunk({ parts: [text(long)] })],
    ["metadata of parts", () => chunk({ parts: [text("", { metadata: { m: long } })] })],
    ["names of metadata", (at) => chunk({ parts: [text("", { metadata: { [long + at]: 1 } })] })],
    ["file names", () => chunk({ parts: [text("", { filename: long })] })],
    ["metadata of the artifact", (at) => chunk({ metadata: { [`k${at}`]: { deep: [long] } } })],
    ["short names of metadata of the artifact", (at) => chunk({ metadata: shortNames(at) })],
    ["short names of metadata of parts", (at) => chunk({ parts: [text("", { metadata: shortNames(at) })] })],
    ["ids of artifacts", (at) => chunk({ artifactId: `${long}${at}` })],
    ["extensions", (at) => chunk({ artifactId: `${at}`, extensions: [long] })],
    [
      "names given late",
      (at) => chunk({ artifactId: `${at % 5}`, name: at < 5 ? "" : long, description: long }),
    ],
    [
      "questions",
      (at) => status(TaskState.INPUT_REQUIRED, { message: agentMessage(long, { messageId: `${at}` }) }),
    ],
    [
      "one message",
      () => status(TaskState.WORKING, { message: agentMessage(long.repeat(11), { messageId: "m" }) }),
    ],
  ])("grows by %s", (_, event) => {
    const size = new TaskSize(maxBytes);
    expect(() => {
      for (let at = 0; at < 11; at++) size.add(event(at));
    }).toThrow(ContentTooLargeError);
  });

  it.each<[string, (at: number) => StreamResponse]>([
    ["progress", (at) => status(TaskState.WORKING, { message: agentMessage(long, { messageId: `${at}` }) })],
    ["metadata of the same name", () => chunk({ metadata: { m: long } })],
    ["a name said again", () => chunk({ name: long, description: long })],
    ["extensions said again", () => chunk({ extensions: [long] })],
    ["an artifact that is replaced", () => chunk({ parts: [text(long)], name: long }, false)],
    ["the task as it is", () => task()],
  ])("does not grow by %s", (_, event) => {
    const size = new TaskSize(maxBytes);
    for (let at = 0; at < 100; at++) size.add(event(at));
  });

  it("counts the history and the metadata of a task", () => {
    expect(() => new TaskSize(15_000).add(task())).toThrow(ContentTooLargeError);
  });

  it("counts the artifacts of a whole task, and each anew when it is replaced or grows", () => {
    const artifacts = [1, 2, 3].map((at) => ({ artifactId: `a${at}`, parts: [text(long.repeat(3))] }));
    const value = create(TaskSchema, { id: "t", artifacts });
    const size = new TaskSize(maxBytes);
    size.add(create(StreamResponseSchema, { payload: { case: "task", value } }));
    for (const { artifactId } of artifacts) {
      size.add(chunk({ artifactId, parts: [text(long.repeat(2))] }, false), value);
    }
    for (const { artifactId } of artifacts) size.add(chunk({ artifactId, parts: [text(long)] }), value);
    expect(() => size.add(chunk({ artifactId: "a1", parts: [text(long)] }), value)).toThrow(
      ContentTooLargeError,
    );
    size.add(create(StreamResponseSchema, { payload: { case: "task", value } }));
    expect(() => size.add(chunk({ artifactId: "a1", parts: [text(long)] }), value)).toThrow(
      ContentTooLargeError,
    );
  });

  it("counts small parts for what they take", () => {
    const size = new TaskSize(maxBytes);
    expect(() => {
      for (let at = 0; at < 1_000; at++) size.add(chunk({ parts: [text("")] }));
    }).toThrow(ContentTooLargeError);
  });
});

function chunk(artifact: MessageInitShape<typeof ArtifactSchema>, append = true): StreamResponse {
  const value = { taskId: "t", artifact: { artifactId: "a", ...artifact }, append };
  return create(StreamResponseSchema, { payload: { case: "artifactUpdate", value } });
}

function status(state: TaskState, other: MessageInitShape<typeof TaskStatusSchema>): StreamResponse {
  const value = { taskId: "t", status: { state, ...other } };
  return create(StreamResponseSchema, { payload: { case: "statusUpdate", value } });
}

function task(): StreamResponse {
  const history = [userMessage(long, { messageId: "m" })];
  const value = { id: "t", status: { state: TaskState.WORKING }, history, metadata: { m: long } };
  return create(StreamResponseSchema, { payload: { case: "task", value } });
}
