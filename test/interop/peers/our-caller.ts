import { findA2AError } from "@a2a-connect/core";
import { formatMessage, parseMessage } from "@a2a-connect/core/internal";
import { type AgentClient, connectAgent } from "@a2a-connect/node/client";
import {
  file_lf_a2a_v1_a2a,
  GetTaskPushNotificationConfigRequestSchema,
  GetTaskRequestSchema,
  ListTasksRequestSchema,
  SendMessageRequestSchema,
  TaskPushNotificationConfigSchema,
} from "@a2a-connect/proto";
import { createRegistry, type JsonObject, type Message } from "@bufbuild/protobuf";
import { type Caller, CallRefused } from "./caller.ts";

/** Our client, by the methods that its users call. */
export const ourCaller: Caller = {
  async *call({ url, card }, { binding, method, request, key }) {
    const trust = key === undefined ? {} : { trust: { keys: [key] } };
    try {
      await using agent = await connectAgent(card ?? url, { pinBinding: binding, ...trust });
      const call = calls[method];
      if (call === undefined) throw new Error(`no method of our client is ${method}`);
      for await (const answer of call(agent, request)) yield answer;
    } catch (error) {
      const { message } = error as Error; // nothing else is thrown here
      const failure = findA2AError(error);
      if (failure === undefined) throw new CallRefused({ message });
      const { reason, entry, metadata } = failure;
      throw new CallRefused({ reason, domain: entry.domain, metadata, message });
    }
  },
};

type Call = (agent: AgentClient, request: JsonObject) => AsyncIterable<JsonObject>;

const calls: Readonly<Record<string, Call>> = {
  GetAgentCard: once(async (agent) => format(agent.card)),
  GetExtendedAgentCard: once(async (agent) => format(await agent.getExtendedCard())),
  SendMessage: once(async (agent, request) => {
    const { message, configuration } = parseSend(request);
    const { returnImmediately = false, taskPushNotificationConfig: pushConfig } = configuration ?? {};
    const options = {
      returnImmediately,
      ...(pushConfig === undefined ? {} : { pushConfig: webhook(pushConfig) }),
    };
    return format(await agent.sendMessage(message, options));
  }),
  async *SendStreamingMessage(agent, request) {
    for await (const event of agent.stream(parseSend(request).message)) yield format(event);
  },
  async *SubscribeToTask(agent, { id }) {
    for await (const event of agent.follow(String(id))) yield format(event);
  },
  GetTask: once(async (agent, request) => {
    const { id, historyLength } = parseMessage(GetTaskRequestSchema, request);
    return format(await agent.getTask(id, historyLength === undefined ? {} : { historyLength }));
  }),
  ListTasks: once(async (agent, request) => {
    const { contextId, pageSize, pageToken } = parseMessage(ListTasksRequestSchema, request);
    const pages = agent
      .listTasks({ contextId, pageToken, ...(pageSize === undefined ? {} : { pageSize }) })
      .pages();
    for await (const { tasks, ...page } of pages) return { ...page, tasks: tasks.map(format) };
    throw new Error("a list has at least one page");
  }),
  CancelTask: once(async (agent, { id }) => format(await agent.cancelTask(String(id)))),
  CreateTaskPushNotificationConfig: once(async (agent, request) => {
    const config = parseMessage(TaskPushNotificationConfigSchema, request);
    return format(await agent.createPushConfig(config.taskId, webhook(config)));
  }),
  GetTaskPushNotificationConfig: once(async (agent, request) => {
    const { taskId, id } = parseMessage(GetTaskPushNotificationConfigRequestSchema, request);
    return format(await agent.getPushConfig(taskId, id));
  }),
  ListTaskPushNotificationConfigs: once(async (agent, { taskId }) => ({
    configs: (await Array.fromAsync(agent.listPushConfigs(String(taskId)))).map(format),
  })),
  DeleteTaskPushNotificationConfig: once(async (agent, { taskId, id }) => {
    await agent.deletePushConfig(String(taskId), String(id));
    return {};
  }),
};

function once(call: (agent: AgentClient, request: JsonObject) => Promise<JsonObject>): Call {
  return async function* (agent, request) {
    yield await call(agent, request);
  };
}

function parseSend(request: JsonObject) {
  const { message, configuration } = parseMessage(SendMessageRequestSchema, request);
  if (message === undefined) throw new Error("a scenario sends a message");
  const { parts, contextId, taskId, messageId } = message;
  const links = { ...(contextId === "" ? {} : { contextId }), ...(taskId === "" ? {} : { taskId }) };
  return { message: { parts, messageId, ...links }, configuration };
}

function webhook({ id, url, token }: { readonly id: string; readonly url: string; readonly token: string }) {
  return { url, token, ...(id === "" ? {} : { id }) };
}

const messages = createRegistry(file_lf_a2a_v1_a2a);

function format(message: Message): JsonObject {
  const type = messages.getMessage(message.$typeName);
  if (type === undefined) throw new Error(`${message.$typeName} is no message of A2A`);
  return formatMessage(type, message) as JsonObject; // as all messages of A2A are
}
