import { agentMessage, json, text } from "@a2a-connect/core";
import {
  type StreamResponse,
  StreamResponseSchema,
  TaskArtifactUpdateEventSchema,
  TaskState,
  TaskStatusUpdateEventSchema,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { countKept } from "./stream-slots.ts";

const mebibyte = "x".repeat(2 ** 20);

it.each([
  ["texts of artifacts", artifact(text(mebibyte))],
  ["data of artifacts", artifact(json({ deep: [[mebibyte]] }))],
  ["words of statuses", status()],
])("a page keeps 64 MiB of a stream: %s", (_, event) => {
  const count = countKept();
  for (let kept = 0; kept < 63; kept += 1) count(event);
  expect(() => count(event)).toThrow("more than this page keeps");
});

function artifact(part: ReturnType<typeof text>): StreamResponse {
  const value = create(TaskArtifactUpdateEventSchema, { artifact: { artifactId: "a", parts: [part] } });
  return create(StreamResponseSchema, { payload: { case: "artifactUpdate", value } });
}

function status(): StreamResponse {
  const message = agentMessage(mebibyte, { messageId: "m" });
  const value = create(TaskStatusUpdateEventSchema, { status: { state: TaskState.WORKING, message } });
  return create(StreamResponseSchema, { payload: { case: "statusUpdate", value } });
}
