import { invalidParams, isTerminal } from "@a2a-connect/core";
import { idempotencyKeyHeader } from "@a2a-connect/core/internal";
import {
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  StreamResponseSchema,
  type TaskPushNotificationConfig,
  TaskState,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import { weighMessage } from "../engine/memory-weight.ts";
import type { SendInput, Sends } from "../engine/sends.ts";
import { skillGuardKey } from "../gates/auth-gate.ts";
import type { PushSender } from "../push/push-sender.ts";
import type { RequestKey } from "../store/task-store.ts";
import { readRequestKey } from "./idempotency-key.ts";
import { lateStream } from "./late-stream.ts";
import {
  answerCounterOf,
  assertHistoryLength,
  callerOf,
  credentialsOf,
  extensionsOf,
  type Operation,
  showTask,
  speaksDraft,
} from "./operation.ts";
import { acceptPushConfig } from "./push-config.ts";
import { readLastEventId, streamTask } from "./stream-task.ts";

/**
 * SendMessage: starts or continues a task, and waits until it is settled unless the caller does not want to (spec
 * §3.1.1, §3.2.2).
 */
export function sendMessage(
  sends: Pick<Sends, "send">,
  agent: AgentDefinition,
  push: PushSender | undefined,
): Operation<"sendMessage"> {
  return async (request, context) => {
    const sent = await sends.send(toSendInput(request, context, push), keyReader(request, context, agent));
    const count = answerCounterOf(context);
    if (sent.kind === "message") {
      count(weighMessage(sent.message));
      return { payload: { case: "message", value: sent.message } };
    }
    try {
      const { returnImmediately = false, historyLength } = request.configuration ?? {};
      const seen = returnImmediately ? sent.seen() : await sent.settled(context.signal);
      count(sent.weigh(historyLength));
      return { payload: { case: "task", value: showTask(seen, context, historyLength) } };
    } finally {
      sent.release();
    }
  };
}

/**
 * SendStreamingMessage: the same as SendMessage, with every event (spec §3.1.2). The stream closes when the task has
 * ended or asks for input, and stays open while it waits for credentials (requirement A-24). When a request had an
 * idempotency key, the same request can resume its stream (docs/streams.md).
 */
export function sendStreamingMessage(
  sends: Pick<Sends, "send">,
  agent: AgentDefinition,
  push: PushSender | undefined,
): Operation<"sendStreamingMessage"> {
  const begin = async (request: SendMessageRequest, context: HandlerContext) => {
    const input = { ...toSendInput(request, context, push), lastEventId: readLastEventId(context) };
    const sent = await sends.send(input, keyReader(request, context, agent));
    if (sent.kind === "message") {
      answerCounterOf(context)(weighMessage(sent.message));
      return streamMessage(sent.message);
    }
    const { historyLength } = request.configuration ?? {};
    return streamTask(sent, context, { historyLength, closes: closesSend });
  };
  return (request, context) => lateStream(() => begin(request, context));
}

async function* streamMessage(message: Message): AsyncGenerator<StreamResponse> {
  yield create(StreamResponseSchema, { payload: { case: "message", value: message } });
}

/** Reads the idempotency key of a request that has one, or whose message's id may be one; most have none. */
function keyReader(
  request: SendMessageRequest,
  context: HandlerContext,
  agent: AgentDefinition,
): (() => Promise<RequestKey | undefined>) | undefined {
  const mayHaveKey = agent.dedupeMessageIds === true || context.requestHeader.has(idempotencyKeyHeader);
  return mayHaveKey ? () => readRequestKey(request, context, agent) : undefined;
}

function closesSend({ payload }: StreamResponse): boolean {
  const state = payload.case === "statusUpdate" ? payload.value.status?.state : undefined;
  return state !== undefined && (isTerminal(state) || state === TaskState.INPUT_REQUIRED);
}

/**
 * The engine's input for both kinds of send. @throws ConnectError for a push config that cannot be stored
 */
function toSendInput(
  { message, configuration, metadata }: SendMessageRequest,
  context: HandlerContext,
  push: PushSender | undefined,
): SendInput {
  if (message === undefined) {
    throw invalidParams({ field: "message", description: "is required" });
  }
  assertHistoryLength("configuration.historyLength", configuration?.historyLength);
  const caller = callerOf(context);
  const { owner, share } = caller;
  const config = acceptInlineConfig(configuration?.taskPushNotificationConfig, push);
  return {
    ...caller,
    message,
    metadata,
    acceptedOutputModes: configuration?.acceptedOutputModes ?? [],
    extensions: extensionsOf(context),
    credentials: credentialsOf(context),
    assertSkill: context.values.get(skillGuardKey),
    pushConfigs: config === undefined ? [] : [config],
    onRegister:
      config && push && ((taskId) => push.noteCaller({ owner, taskId, id: config.id || taskId }, share)),
    reserveConfigs:
      config &&
      push &&
      (() => push.reserve({ owner, taskId: message.taskId, id: config.id || message.taskId })),
    ifGenerationMatch: speaksDraft(context) ? configuration?.ifGenerationMatch : undefined,
  };
}

function acceptInlineConfig(
  config: TaskPushNotificationConfig | undefined,
  push: PushSender | undefined,
): TaskPushNotificationConfig | undefined {
  if (config === undefined) {
    return undefined;
  }
  const field = "configuration.taskPushNotificationConfig";
  const accepted = acceptPushConfig(config, push, `${field}.`);
  if (config.taskId !== "") {
    throw invalidParams({
      field: `${field}.taskId`,
      description: "must be empty: the config is for the task of this message",
    });
  }
  return accepted;
}
