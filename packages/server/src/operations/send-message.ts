import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { TaskEngine } from "../engine/task-engine.ts";
import type { PushSender } from "../push/push-sender.ts";
import { readRequestKey } from "./idempotency-key.ts";
import { holderOf, type Operation } from "./operation.ts";
import { toSendInput } from "./send-request.ts";
import { showTask } from "./show-task.ts";

/**
 * SendMessage: starts or continues a task, and waits until it is settled unless the caller does not want to (spec
 * §3.1.1, §3.2.2).
 */
export function sendMessage(
  engine: TaskEngine,
  agent: AgentDefinition,
  push: PushSender | undefined,
): Operation<"sendMessage"> {
  return async (request, context) => {
    const reading = readRequestKey(request, context, agent);
    const key = reading && (await reading);
    const sent = await engine.send({ ...toSendInput(request, context, push), key });
    if (sent.kind === "message") {
      return { payload: { case: "message", value: sent.message } };
    }
    try {
      const { returnImmediately = false, historyLength } = request.configuration ?? {};
      const seen = returnImmediately ? sent.seen() : await sent.settled(context.signal);
      holderOf(context)(sent.weigh());
      return { payload: { case: "task", value: showTask(seen, context, historyLength) } };
    } finally {
      sent.release();
    }
  };
}
