import { isTerminal } from "@a2a-connect/core";
import { type StreamResponse, TaskState } from "@a2a-connect/proto";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { TaskEngine } from "../engine/task-engine.ts";
import type { PushSender } from "../push/push-sender.ts";
import { readRequestKey } from "./idempotency-key.ts";
import { readLastEventId } from "./last-event-id.ts";
import type { Operation } from "./operation.ts";
import { toSendInput } from "./send-request.ts";
import { streamTask } from "./stream-task.ts";

/**
 * SendStreamingMessage: the same as SendMessage, with every event (spec §3.1.2). The stream closes when the task has
 * ended or asks for input, and stays open while it waits for credentials (requirement A-24). When a request had an
 * idempotency key, the same request can resume its stream (docs/streams.md).
 */
export function sendStreamingMessage(
  engine: TaskEngine,
  agent: AgentDefinition,
  push: PushSender | undefined,
): Operation<"sendStreamingMessage"> {
  return async function* (request, context) {
    const reading = readRequestKey(request, context, agent);
    const key = reading && (await reading);
    const lastEventId = readLastEventId(context);
    const sent = await engine.send({ ...toSendInput(request, context, push), key, lastEventId });
    if (sent.kind === "message") {
      yield { payload: { case: "message", value: sent.message } };
      return;
    }
    const { historyLength } = request.configuration ?? {};
    yield* streamTask(sent, context, { historyLength, closes: closesSend });
  };
}

function closesSend({ payload }: StreamResponse): boolean {
  const state = payload.case === "statusUpdate" ? payload.value.status?.state : undefined;
  return state !== undefined && (isTerminal(state) || state === TaskState.INPUT_REQUIRED);
}
