import {
  A2AService,
  SendMessageConfigurationSchema,
  type TaskPushNotificationConfig,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { ClientContext } from "../../client-context.ts";
import { keyHeader } from "../../send/idempotency-key.ts";
import { checkInput, type SendAnswer, sendCall } from "../../send/send-once.ts";
import type { Observation, Sending } from "../observation.ts";
import { EventStream } from "./event-stream.ts";
import { callSource, type Source } from "./source.ts";

/** SendStreamingMessage. */
export function sendByStream(
  context: ClientContext,
  observation: Observation,
  key: string | undefined,
): Source {
  const { headers, signal } = observation;
  const { request } = checkedSending(context, observation);
  return new EventStream(context, {
    method: A2AService.method.sendStreamingMessage,
    request,
    headers: { ...headers, ...keyHeader(key) },
    signal,
  });
}

/** SendMessage: the task as it is then, or the direct Message. */
export function sendByCall(
  context: ClientContext,
  observation: Observation,
  key: string | undefined,
): Source {
  return callSource(() => sendImmediately(context, observation, key));
}

/** SendMessage, whose task is followed from its creation, so that each event is seen. */
export function sendAgain(context: ClientContext, observation: Observation, key: string | undefined): Source {
  return callSource(async () => {
    const payload = await sendImmediately(context, observation, key);
    if (payload.case !== "task") {
      return payload;
    }
    observation.tracker.expect(payload.value.id);
    return undefined;
  });
}

/** Sends a message by a call that does not wait for its task. */
export async function sendImmediately(
  context: ClientContext,
  observation: Observation,
  key: string | undefined,
  webhook?: TaskPushNotificationConfig,
): Promise<SendAnswer> {
  const { headers, signal } = observation;
  const { request } = checkedSending(context, observation);
  const configuration = {
    ...create(SendMessageConfigurationSchema),
    ...request.configuration,
    returnImmediately: true,
    ...(webhook === undefined ? {} : { taskPushNotificationConfig: webhook }),
  };
  const { requestTimeoutMs: timeoutMs } = context.settings;
  return sendCall(context, { ...request, configuration }, { headers, signal, key, timeoutMs });
}

/** Parts that the skill does not accept are not sent. @throws InputModeError, RequirementError */
function checkedSending(context: ClientContext, { sending }: Observation): Sending {
  if (sending === undefined) {
    throw new Error("this cannot be: there is no message to send");
  }
  checkInput(context, sending.request, sending.options);
  return sending;
}
