// Every operation over every wire in every version, as the descriptors name them: a new operation is called without being named here.

import { findA2AError, type MethodLocalName, methods } from "@a2a-connect/core";
import { PartSchema } from "@a2a-connect/proto";
import { A2AService as OlderService } from "@a2a-connect/proto/a2a/v1";
import { type AgentHarness, type Wire, wires } from "@a2a-connect/testing";
import { create, type DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";

/** What came of a call. */
export interface Outcome {
  /** `ok`, the reason of the error, or else its code. */
  readonly result: string;
  /** Everything that the caller is told of an error. */
  readonly told: string;
  /** The answer, or the first event. */
  readonly value: unknown;
}

export interface Target {
  readonly harness: AgentHarness;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: none, so that a message begins a new task. */
  readonly taskId: string | undefined;
  /** What a message says. Default "hold". */
  readonly text?: string;
  /** Default none; A2A 0.3 has none. */
  readonly tenant?: string;
}

/** A way to call one operation. */
export interface Way {
  readonly title: string;
  readonly wire: Wire;
  readonly version: string;
  readonly operation: MethodLocalName;
  call(target: Target): Promise<Outcome>;
}

/** Whether the requests of an operation name a task. */
export function namesTask(operation: MethodLocalName): boolean {
  const { field } = methods[operation].desc.input;
  return ["message", "taskId", "id"].some((name) => name in field);
}

let sent = 0;

/* ---- A2A 1.0 and 1.1 ---- */

function currentWay(wire: Wire, version: string, operation: MethodLocalName): Way {
  const { desc, streaming } = methods[operation];
  return {
    title: `${desc.name} over ${wire} of ${version}`,
    wire,
    version,
    operation,
    call({ harness, headers, taskId, text, tenant = "" }) {
      const client = harness.client(wire, { version, headers }) as unknown as Calls; // called by its descriptor
      const call = (options?: CallOptions) =>
        client[operation]?.({ ...requestFor(desc.input, taskId, text), tenant }, options);
      return outcomeOf(() =>
        streaming
          ? firstOf((options) => call(options) as AsyncIterable<unknown>)
          : (call() as Promise<unknown>),
      );
    },
  };
}

interface CallOptions {
  readonly signal: AbortSignal;
}

type Calls = Readonly<Record<string, (request: object, options?: CallOptions) => unknown>>;

/** A request of that type about a task, by the names of its fields. */
function requestFor({ field }: DescMessage, taskId = "", text = "hold"): Readonly<Record<string, unknown>> {
  const parts = [create(PartSchema, { content: { case: "text", value: text } })];
  const message = { messageId: `m-${++sent}`, role: 1, taskId, parts };
  return {
    ...("message" in field && { message }),
    ...("taskId" in field && { taskId, id: "hook" }),
    ...("id" in field && !("taskId" in field) && { id: taskId }),
    ...("url" in field && { url: "https://hook.example/" }),
  };
}

async function firstOf(open: (options: CallOptions) => AsyncIterable<unknown>): Promise<unknown> {
  const abort = new AbortController();
  try {
    for await (const event of open({ signal: abort.signal })) return event;
    return undefined;
  } finally {
    abort.abort();
  }
}

async function outcomeOf(call: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { result: "ok", told: "", value: await call() };
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    const { reason, metadata } = findA2AError(error) ?? {};
    const told = `${error.rawMessage} ${JSON.stringify(metadata)}`;
    return { result: reason ?? Code[error.code], told, value: undefined };
  }
}

/* ---- A2A 0.3, whose operations do not change any more ---- */

interface OlderCall {
  readonly operation: MethodLocalName;
  readonly name: string;
  readonly rpc: keyof typeof OlderService.method;
  /** Verb and path of HTTP+JSON, without the task's id. */
  readonly route: readonly [verb: string, before: string, after?: string];
}

const olderCalls: readonly OlderCall[] = [
  { operation: "sendMessage", name: "message/send", rpc: "sendMessage", route: ["POST", "/message:send"] },
  {
    operation: "sendStreamingMessage",
    name: "message/stream",
    rpc: "sendStreamingMessage",
    route: ["POST", "/message:stream"],
  },
  { operation: "getTask", name: "tasks/get", rpc: "getTask", route: ["GET", "/tasks/", ""] },
  { operation: "cancelTask", name: "tasks/cancel", rpc: "cancelTask", route: ["POST", "/tasks/", ":cancel"] },
  {
    operation: "subscribeToTask",
    name: "tasks/resubscribe",
    rpc: "taskSubscription",
    route: ["GET", "/tasks/", ":subscribe"],
  },
  {
    operation: "createTaskPushNotificationConfig",
    name: "tasks/pushNotificationConfig/set",
    rpc: "createTaskPushNotificationConfig",
    route: ["POST", "/tasks/", "/pushNotificationConfigs"],
  },
  {
    operation: "getTaskPushNotificationConfig",
    name: "tasks/pushNotificationConfig/get",
    rpc: "getTaskPushNotificationConfig",
    route: ["GET", "/tasks/", "/pushNotificationConfigs/hook"],
  },
  {
    operation: "listTaskPushNotificationConfigs",
    name: "tasks/pushNotificationConfig/list",
    rpc: "listTaskPushNotificationConfig",
    route: ["GET", "/tasks/", "/pushNotificationConfigs"],
  },
  {
    operation: "deleteTaskPushNotificationConfig",
    name: "tasks/pushNotificationConfig/delete",
    rpc: "deleteTaskPushNotificationConfig",
    route: ["DELETE", "/tasks/", "/pushNotificationConfigs/hook"],
  },
  {
    operation: "getExtendedAgentCard",
    name: "agent/getAuthenticatedExtendedCard",
    rpc: "getAgentCard",
    route: ["GET", "/card"],
  },
];

const olderWires = ["jsonrpc", "http-json", "grpc", "grpc-web"] as const;

function olderWay(wire: (typeof olderWires)[number], call: OlderCall): Way {
  const callers = { jsonrpc: callJsonRpc, "http-json": callHttpJson, grpc: callRpc, "grpc-web": callRpc };
  return {
    title: `${call.name} over ${wire} of 0.3`,
    wire,
    version: "0.3",
    operation: call.operation,
    call: (target) => callers[wire](call, target, wire),
  };
}

async function callJsonRpc({ name }: OlderCall, { harness, headers, taskId, text = "hold" }: Target) {
  const message = {
    kind: "message",
    messageId: `m-${++sent}`,
    role: "user",
    parts: [{ kind: "text", text }],
    ...(taskId === undefined ? {} : { taskId }),
  };
  const config = { id: "hook", url: "https://hook.example/" };
  const params = name.startsWith("message/")
    ? { message }
    : name.endsWith("/set")
      ? { taskId, pushNotificationConfig: config }
      : { id: taskId, ...(/\/(?:get|delete)$/.test(name) && { pushNotificationConfigId: "hook" }) };
  return readHttp(harness, "/rpc", {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: name, params }),
  });
}

async function callHttpJson({ route }: OlderCall, { harness, headers, taskId = "", text = "hold" }: Target) {
  const [method, before, after] = route;
  const request = { message_id: `m-${++sent}`, role: "ROLE_USER", content: [{ text }], task_id: taskId };
  const config = { pushNotificationConfig: { id: "hook", url: "https://hook.example/" } };
  const body = before.startsWith("/message") ? { request } : { configId: "hook", config };
  return readHttp(harness, `/rest/v1${before}${after === undefined ? "" : taskId + after}`, {
    method,
    headers: { ...headers, "content-type": "application/json", "a2a-version": "0.3" },
    ...(method === "POST" && { body: JSON.stringify(body) }),
  });
}

async function readHttp(harness: AgentHarness, path: string, init: RequestInit): Promise<Outcome> {
  const response = await harness.fetch(path, init);
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const text = isStream ? await firstChunk(response) : await response.text();
  const json = JSON.parse(text.replace(/^[^{]*/, "").split("\n")[0] || "{}");
  const error = json.error ?? (response.ok ? undefined : json);
  if (error === undefined) return { result: "ok", told: "", value: json.result ?? json };
  const { reason = String(error.code), metadata } =
    (error.data ?? error.details)?.find((each: object) => "reason" in each) ?? {};
  return { result: reason, told: `${error.message} ${JSON.stringify(metadata)}`, value: undefined };
}

async function firstChunk(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (/\{.*\n/.test(text)) break;
  }
  return text;
}

async function callRpc({ rpc }: OlderCall, { harness, headers, taskId = "", text }: Target, wire: Wire) {
  const { url: baseUrl } = harness;
  const transport =
    wire === "grpc"
      ? createGrpcTransport({ baseUrl })
      : createGrpcWebTransport({ baseUrl, httpVersion: "1.1" });
  const client = createClient(OlderService, transport) as unknown as Calls; // called by its name
  const { input, methodKind } = OlderService.method[rpc];
  const content = [{ part: { case: "text", value: text ?? "hold" } }];
  const request = {
    ...("request" in input.field && { request: { messageId: `m-${++sent}`, role: 1, taskId, content } }),
    ...("name" in input.field && {
      name: `tasks/${taskId}${/PushNotificationConfig$/.test(rpc) ? "/pushNotificationConfigs/hook" : ""}`,
    }),
    ...("parent" in input.field && { parent: `tasks/${taskId}` }),
    ...("config" in input.field && {
      configId: "hook",
      config: { name: "", pushNotificationConfig: { id: "hook", url: "https://hook.example/" } },
    }),
  };
  const invoke = (options: object) => client[rpc]?.(request, { headers, ...options } as never);
  return outcomeOf(() =>
    methodKind === "server_streaming"
      ? firstOf((options) => invoke(options) as AsyncIterable<unknown>)
      : (invoke({}) as Promise<unknown>),
  );
}

/** All operations over all wires in all versions. */
export const ways: readonly Way[] = [
  ...["1.0", "1.1"].flatMap((version) =>
    wires.flatMap((wire) =>
      Object.values(methods).map(({ localName }) => currentWay(wire, version, localName)),
    ),
  ),
  ...olderWires.flatMap((wire) => olderCalls.map((call) => olderWay(wire, call))),
];
