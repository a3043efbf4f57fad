import { isTerminal } from "@a2a-connect/core";
import { type StreamResponse, TaskState } from "@a2a-connect/proto";
import type { TaskEngine } from "../engine/task-engine.ts";
import type { PushSender } from "../push/push-sender.ts";
import type { Operation } from "./operation.ts";
import { toSendInput } from "./send-request.ts";
import { streamTask } from "./stream-task.ts";

/**
 * SendStreamingMessage: the same as SendMessage, with every event (spec §3.1.2). Closes when the task has ended or asks
 * for input, and stays open while it waits for credentials (requirement A-24).
 */
export function sendStreamingMessage(
  engine: TaskEngine,
  push: PushSender | undefined,
): Operation<"sendStreamingMessage"> {
  return async function* (request, context) {
    const sent = await engine.send(toSendInput(request, context, push));
    if (sent.kind === "message") {
      yield { payload: { case: "message", value: sent.message } };
      return;
    }
    yield* streamTask(sent, context.signal, request.configuration?.historyLength, closesSend);
  };
}

function closesSend({ payload }: StreamResponse): boolean {
  const state = payload.case === "statusUpdate" ? payload.value.status?.state : undefined;
  return state !== undefined && (isTerminal(state) || state === TaskState.INPUT_REQUIRED);
}
