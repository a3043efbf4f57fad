import { type StreamResponse, StreamResponseSchema, type Task } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { TaskHandle } from "../engine/task-engine.ts";
import { withHistoryLength } from "./history-length.ts";

/**
 * A task's stream: the task first (requirement A-22), then every event after it, until one that `closes` has been
 * delivered or the task has ended. Releases the handle.
 */
export async function* streamTask(
  handle: TaskHandle,
  signal: AbortSignal,
  historyLength: number | undefined,
  closes: (event: StreamResponse) => boolean,
): AsyncGenerator<StreamResponse> {
  try {
    if (handle.first !== undefined) {
      yield taskResponse(withHistoryLength(handle.first, historyLength));
    }
    for await (const event of handle.events(signal)) {
      // The same object goes to every reader, so that it is encoded once; only a shortened history makes another.
      yield event.payload.case === "task" && historyLength !== undefined
        ? taskResponse(withHistoryLength(event.payload.value, historyLength))
        : event;
      if (closes(event)) {
        return;
      }
    }
  } finally {
    handle.release();
  }
}

function taskResponse(value: Task): StreamResponse {
  return create(StreamResponseSchema, { payload: { case: "task", value } });
}
