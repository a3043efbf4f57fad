import type { TaskEngine } from "../engine/task-engine.ts";
import type { PushSender } from "../push/push-sender.ts";
import { withHistoryLength } from "./history-length.ts";
import type { Operation } from "./operation.ts";
import { toSendInput } from "./send-request.ts";

/** SendMessage: start or continue a task, and wait until it is settled unless told otherwise (spec §3.1.1, §3.2.2). */
export function sendMessage(engine: TaskEngine, push: PushSender | undefined): Operation<"sendMessage"> {
  return async (request, context) => {
    const sent = await engine.send(toSendInput(request, context, push));
    if (sent.kind === "message") {
      return { payload: { case: "message", value: sent.message } };
    }
    try {
      const { returnImmediately = false, historyLength } = request.configuration ?? {};
      const task = returnImmediately ? sent.snapshot() : await sent.settled(context.signal);
      return { payload: { case: "task", value: withHistoryLength(task, historyLength) } };
    } finally {
      sent.release();
    }
  };
}
