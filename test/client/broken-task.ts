import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Call, openStream, respondJson, respondResult } from "./broken-server.ts";

/** The id of the one task that broken servers know. */
export const taskId = "task-1";

/** What a whole task tells, in letters of one to four bytes. */
export const wholeText = "Grüße, 語 🌍!";

/** The task as JSON. */
export function taskJson(state: string, other: JsonObject = {}): JsonObject {
  return { id: taskId, contextId: "context-1", status: { state }, ...other };
}

/** A change of status as an event. */
export function statusEvent(state: string, other: JsonObject = {}): JsonObject {
  return { statusUpdate: { taskId, contextId: "context-1", status: { state, ...other } } };
}

/** A chunk of the artifact as an event. */
export function chunkEvent(text: string, append: boolean): JsonObject {
  return {
    artifactUpdate: {
      taskId,
      contextId: "context-1",
      artifact: { artifactId: "story", parts: [{ text }] },
      append,
    },
  };
}

/** What a server sends that is right, from the first event to the last. */
export const wholeTask: readonly JsonObject[] = [
  { task: taskJson("TASK_STATE_SUBMITTED") },
  chunkEvent("Grüße, ", false),
  chunkEvent("語 🌍!", true),
  statusEvent("TASK_STATE_COMPLETED"),
];

/** The task at its end. */
export const finishedTask: JsonObject = taskJson("TASK_STATE_COMPLETED", {
  artifacts: [{ artifactId: "story", parts: [{ text: "Grüße, " }, { text: "語 🌍!" }] }],
});

/** Answers as a server does that is right: streams go on after `Last-Event-ID`. */
export function answerWell(call: Call): void {
  switch (call.method) {
    case "SendStreamingMessage":
      sendEvents(call, 1, wholeTask);
      return;
    case "SubscribeToTask": {
      const after = call.request.headers["last-event-id"];
      if (after === undefined) sendEvents(call, wholeTask.length, [{ task: finishedTask }]);
      else sendEvents(call, Number(after) + 1, wholeTask.slice(Number(after)));
      return;
    }
    case "GetTask":
      respondResult(call, finishedTask);
      return;
    case "SendMessage":
      respondResult(call, { task: finishedTask });
      return;
    default:
      respondJson(call.response, { error: "not expected" }, 500);
  }
}

/** A stream of these events, the first of which has this number, to its end. */
export function sendEvents(call: Call, firstId: number, events: readonly JsonValue[]): void {
  const stream = openStream(call, firstId);
  for (const [index, event] of events.entries()) stream.send(event, firstId + index);
  stream.end();
}
