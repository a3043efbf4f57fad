import type { HttpHandler, HttpRequest, HttpResponse } from "@a2a-connect/bindings";
import {
  createHttpJsonHandler,
  createJsonRpcHandler,
  createRpcHandlers,
  refuseUnknownRpc,
} from "@a2a-connect/bindings/server";
import { applyStep, copyTask, formatMessage } from "@a2a-connect/core/internal";
import { listen } from "@a2a-connect/node";
import {
  A2AService,
  type AgentCard,
  AgentCardSchema,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskSchema,
  TaskState,
} from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createServiceImplSpec, type ServiceImpl } from "@connectrpc/connect";
import { bindingOf } from "../../client/interfaces.ts";
import { mounts, readWireRequest, type WireRequest } from "./wire-request.ts";

/** An agent without any behaviour of ours: it says what a test lets it say, over all wires, and notes what it is asked. */
export interface Peer extends AsyncDisposable {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** As it is served. */
  readonly card: AgentCard;
  /** Operations so far, as they arrived. */
  readonly requests: readonly WireRequest[];
  /** Requests for the card so far. */
  readonly cardRequests: readonly Headers[];
}

/** How a peer differs from one that has done everything already. */
export interface PeerOptions {
  /** Operations that it has of its own. */
  readonly service?: Partial<ServiceImpl<typeof A2AService>>;
  /** Changes the card before it is served. */
  readonly editCard?: (card: AgentCard) => void | Promise<void>;
  /** Changes the text of the card on its way out, as somebody in between would. */
  readonly tamper?: (text: string) => string;
  /** Of the card's answer. */
  readonly cardHeaders?: Readonly<Record<string, string>>;
  /** Serves over TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** The id of the one task that peers know. */
export const taskId = "task-1";

/** The context of that task. */
export const contextId = "context-1";

/** What that task has besides its status. */
export interface PeerArtifacts {
  readonly artifacts?: { readonly artifactId: string; readonly parts: ReturnType<typeof textPart>[] }[];
}

/** That task in some state. */
export function peerTask(state: TaskState, other: PeerArtifacts = {}): Task {
  return create(TaskSchema, { id: taskId, contextId, status: { state }, ...other });
}

/** A stream's message of that kind; updates are of the peer's one task. */
export function peerEvent(
  payload: Exclude<MessageInitShape<typeof StreamResponseSchema>["payload"], undefined>,
): StreamResponse {
  const event = create(StreamResponseSchema, { payload });
  if (event.payload.case === "statusUpdate" || event.payload.case === "artifactUpdate") {
    event.payload.value.taskId = taskId;
    event.payload.value.contextId = contextId;
  }
  return event;
}

/** The task as an event. */
export function taskEvent(state: TaskState, other: PeerArtifacts = {}): StreamResponse {
  return peerEvent({ case: "task", value: peerTask(state, other) });
}

/** A change of status as an event. */
export function statusEvent(state: TaskState, words?: string): StreamResponse {
  const message =
    words === undefined ? {} : { message: { messageId: `m-${words}`, parts: [textPart(words)] } };
  return peerEvent({ case: "statusUpdate", value: { status: { state, ...message } } });
}

/** Words for an artifact as an event: more of it, or all of it. */
export function chunkEvent(artifactId: string, words: string, append: boolean): StreamResponse {
  const artifact = { artifactId, parts: [textPart(words)] };
  return peerEvent({ case: "artifactUpdate", value: { artifact, append } });
}

/** What a stream consists of. */
export async function* events(...list: readonly StreamResponse[]): AsyncGenerator<StreamResponse, void> {
  yield* list;
}

/** The peer's task after all of these events. */
export function taskAfter(...list: readonly StreamResponse[]): Task {
  let task = peerTask(TaskState.SUBMITTED);
  for (const { payload } of list) {
    if (payload.case === "task") {
      task = copyTask(payload.value);
    } else if (payload.case === "statusUpdate" || payload.case === "artifactUpdate") {
      applyStep(task, payload);
    }
  }
  return task;
}

/** An answer that is a task. */
export function taskAnswer(value: Task) {
  return { payload: { case: "task", value } } as const;
}

/** A text part. */
export function textPart(value: string) {
  return { content: { case: "text", value } } as const;
}

/** Starts a peer on a free port of this machine. Unless it is told otherwise its one task is COMPLETED. */
export async function startPeer(options: PeerOptions = {}): Promise<Peer> {
  const requests: WireRequest[] = [];
  const cardRequests: Headers[] = [];
  const card = create(AgentCardSchema, {
    name: "Peer",
    description: "Says what a test lets it say.",
    version: "1.0.0",
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "talk", name: "Talk", description: "Talks.", tags: ["talk"] }],
  });
  const service = createServiceImplSpec<typeof A2AService>(A2AService, {
    ...doneService(card),
    ...options.service,
  });
  const rpc = createRpcHandlers(service);
  const jsonRpc = createJsonRpcHandler(service);
  const httpJson = createHttpJsonHandler(service, { prefix: mounts.httpJson });

  const answer: HttpHandler = async (request) => {
    const { pathname } = new URL(request.url);
    const handler = pathname === mounts.jsonRpc ? jsonRpc : rpc.get(pathname);
    if (handler !== undefined) return handler(request);
    if (pathname.startsWith(`${mounts.httpJson}/`)) return httpJson(request);
    if (pathname !== "/.well-known/agent-card.json") return refuseUnknownRpc(request) ?? { status: 404 };
    cardRequests.push(request.header);
    return serveCard(card, request.header, options);
  };
  const listener = await listen(
    async (request) => {
      const body = Buffer.concat(await Array.fromAsync(request.body));
      const noted = readWireRequest(request, body);
      if (noted !== undefined) requests.push(noted);
      return answer(withBody(request, body));
    },
    options.tls === undefined ? {} : { tls: options.tls },
  );
  const { url } = listener;
  card.supportedInterfaces.push(...interfacesAt(url));
  await options.editCard?.(card);
  return {
    url,
    card,
    requests,
    cardRequests,
    [Symbol.asyncDispose]: () => listener.close({ graceMs: 0, timeoutMs: 500 }),
  };
}

function interfacesAt(url: string): AgentCard["supportedInterfaces"] {
  const paths = {
    jsonrpc: mounts.jsonRpc,
    "http-json": mounts.httpJson,
    grpc: "",
    "grpc-web": "",
    connect: "",
  };
  const { supportedInterfaces } = create(AgentCardSchema, {
    supportedInterfaces: wires.map((wire) => ({
      url: wire === "grpc" ? new URL(url).host : `${url}${paths[wire]}`,
      protocolBinding: bindingOf[wire],
      protocolVersion: "1.0",
    })),
  });
  return supportedInterfaces;
}

/** Every operation, by an agent that has nothing more to do. */
function doneService(card: AgentCard): ServiceImpl<typeof A2AService> {
  const task = peerTask(TaskState.COMPLETED);
  const done = taskEvent(TaskState.COMPLETED);
  const config = { taskId, id: "config-1", url: "https://hook.example/" };
  return {
    sendMessage: () => taskAnswer(task),
    sendStreamingMessage: async function* () {
      yield done;
    },
    getTask: () => task,
    listTasks: () => ({ tasks: [task], pageSize: 50, totalSize: 1 }),
    cancelTask: () => task,
    subscribeToTask: async function* () {
      yield done;
    },
    createTaskPushNotificationConfig: () => config,
    getTaskPushNotificationConfig: () => config,
    listTaskPushNotificationConfigs: () => ({ configs: [config] }),
    deleteTaskPushNotificationConfig: () => ({}),
    getExtendedAgentCard: () => card,
  };
}

function serveCard(
  card: AgentCard,
  asked: Headers,
  { cardHeaders = {}, tamper = (text) => text }: PeerOptions,
): HttpResponse {
  const header = new Headers({ "content-type": "application/json", ...cardHeaders });
  const etag = header.get("etag");
  return etag !== null && asked.get("if-none-match") === etag
    ? { status: 304, header }
    : { status: 200, header, body: tamper(JSON.stringify(formatMessage(AgentCardSchema, card))) };
}

function withBody({ httpVersion, url, method, header, signal }: HttpRequest, body: Uint8Array): HttpRequest {
  return {
    httpVersion,
    url,
    method,
    header,
    signal,
    body: {
      bytes: () => Promise.resolve(body),
      async *[Symbol.asyncIterator]() {
        yield body;
      },
    },
  };
}
