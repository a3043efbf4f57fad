import { type MethodLocalName, methods } from "@a2a-connect/core";
import { lastEventIdHeader } from "@a2a-connect/core/internal";
import {
  GetTaskRequestSchema,
  ListTasksRequestSchema,
  type ListTasksResponse,
  ListTasksResponseSchema,
  Role,
  SendMessageRequestSchema,
  SendMessageResponseSchema,
  SubscribeToTaskRequestSchema,
  type Task,
  TaskSchema,
  type TaskState,
} from "@a2a-connect/proto";
import {
  create,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { Target } from "../servers/control.ts";
import type { Connection } from "./connection.ts";
import type { HeaderFields, LoadWire } from "./load-wire.ts";

/** How one stream went. */
export interface StreamOutcome {
  readonly events: number;
  /** False when it was stopped because it took too long. */
  readonly complete: boolean;
}

/** How a subscription is read. */
export interface FollowOptions {
  /** The event after which to begin; without it, with the task as it is. */
  readonly lastEventId?: number;
  /** Told, as they arrive, how many events there have been. */
  readonly onCount?: (count: number) => void;
}

/** A subscription that is being read. */
export interface Following {
  /** Resolves at the first event. */
  readonly first: Promise<void>;
  /** Resolves with the number of events when the server has ended the stream. */
  readonly ended: Promise<number>;
  /** Events so far. */
  readonly count: number;
}

const lastEventIdField = lastEventIdHeader.toLowerCase();
const idDigits = 12;
const idPrefix = "bench-";
const idPlaceholder: string = idPrefix + "0".repeat(idDigits);
let lastMessageId = 0;

/** One caller that makes one call at a time. Requests are encoded once; only the message id differs from call to call. */
export class LoadClient {
  readonly #wire: LoadWire;
  readonly #target: Target;
  readonly #connection: Connection;
  readonly #encoded = new Map<string, { readonly bytes: Buffer; readonly idAt: number }>();

  constructor(wire: LoadWire, target: Target, connection: Connection) {
    this.#wire = wire;
    this.#target = target;
    this.#connection = connection;
  }

  /** Sends a command and waits for its result. The cheap form: whether it is a success is all that is looked at. */
  async send(command: string): Promise<void> {
    await this.#unary("sendMessage", command, () => sendRequest(command, false));
  }

  /** Sends a command and gives its task; returns at once when `immediately`. @throws Error when there is none */
  async sendForTask(command: string, immediately = false): Promise<Task> {
    const body = await this.#unary("sendMessage", `${command} ${immediately}`, () =>
      sendRequest(command, immediately),
    );
    const { payload } = this.#decode("sendMessage", SendMessageResponseSchema, body);
    if (payload.case !== "task") {
      throw new Error(`"${command}" did not give a task`);
    }
    return payload.value;
  }

  /** Asks for the first page of tasks and gives the answer's bytes. */
  async listTasks(pageSize: number): Promise<Buffer> {
    return this.#unary("listTasks", `list ${pageSize}`, () => create(ListTasksRequestSchema, { pageSize }));
  }

  /** One page of the tasks in a state. */
  async listState(status: TaskState, pageSize: number, pageToken = ""): Promise<ListTasksResponse> {
    const body = await this.#unary("listTasks", `list ${status} ${pageSize} ${pageToken}`, () =>
      create(ListTasksRequestSchema, { status, pageSize, pageToken }),
    );
    return this.#decode("listTasks", ListTasksResponseSchema, body);
  }

  /** A task without its history. */
  async getTask(id: string): Promise<Task> {
    const body = await this.#unary("getTask", `get ${id}`, () =>
      create(GetTaskRequestSchema, { id, historyLength: 0 }),
    );
    return this.#decode("getTask", TaskSchema, body);
  }

  /** Sends a command and reads its stream to the end, or for `limitMs`; then the connection is closed. */
  async stream(command: string, limitMs: number): Promise<StreamOutcome> {
    const request = this.#encode("sendStreamingMessage", command, () => sendRequest(command, false));
    const counter = this.#wire.createEventCounter();
    const done = this.#connection.exchange(request, (chunk) => counter.take(chunk)).then(() => true);
    const late = Promise.withResolvers<false>();
    const timer = setTimeout(() => late.resolve(false), limitMs);
    const complete = await Promise.race([done, late.promise]);
    clearTimeout(timer);
    if (!complete) {
      done.catch(() => {});
      this.#connection.close();
    }
    return { events: counter.count, complete };
  }

  /** Subscribes to a task; resolves when the first event has come. The subscription lives as long as the connection. */
  async subscribe(id: string): Promise<void> {
    await this.follow(id).first;
  }

  /** Reads a task's events until its stream ends; see `FollowOptions`. */
  follow(id: string, { lastEventId, onCount }: FollowOptions = {}): Following {
    const counter = this.#wire.createEventCounter();
    const first = Promise.withResolvers<void>();
    const exchanged = this.#connection.exchange(Buffer.from(this.#subscription(id, lastEventId)), (chunk) => {
      counter.take(chunk);
      if (counter.count > 0) {
        first.resolve();
        onCount?.(counter.count);
      }
    });
    const ended = exchanged.then(() => counter.count);
    // Whoever waits for one of them is told.
    ended.then(() => first.reject(new Error("the subscription ended")), first.reject);
    first.promise.catch(() => {});
    return {
      first: first.promise,
      ended,
      get count() {
        return counter.count;
      },
    };
  }

  /** Subscribes to a task over a connection of its own and never reads. */
  stall(id: string): Promise<Disposable> {
    return this.#wire.openStalled(this.#target, Buffer.from(this.#subscription(id)));
  }

  #subscription(id: string, lastEventId?: number): Buffer {
    const fields = lastEventId === undefined ? {} : { [lastEventIdField]: String(lastEventId) };
    return this.#encode(
      "subscribeToTask",
      `subscribe ${id} ${lastEventId ?? ""}`,
      () => create(SubscribeToTaskRequestSchema, { id }),
      fields,
    );
  }

  #decode<Schema extends DescMessage>(
    method: MethodLocalName,
    schema: Schema,
    body: Buffer,
  ): MessageShape<Schema> {
    const json = this.#wire.decode(methods[method], body) as JsonValue; // it was parsed from JSON or made by toJson
    return fromJson(schema, json, { ignoreUnknownFields: true });
  }

  async #unary(method: MethodLocalName, key: string, request: () => Message): Promise<Buffer> {
    let body: Buffer | undefined;
    await this.#connection.exchange(this.#encode(method, key, request), (chunk) => {
      body = body === undefined ? chunk : Buffer.concat([body, chunk]);
    });
    if (body === undefined || !this.#wire.isSuccess(body)) {
      throw new Error(`${key} over ${this.#wire.name} failed: ${body?.toString("latin1") ?? "no body"}`);
    }
    return body;
  }

  #encode(method: MethodLocalName, key: string, request: () => Message, fields?: HeaderFields): Buffer {
    const cacheKey = `${method} ${key}`;
    let encoded = this.#encoded.get(cacheKey);
    if (encoded === undefined) {
      const { authorization } = this.#target;
      const all = authorization === undefined ? fields : { ...fields, authorization };
      const bytes = this.#wire.encode(this.#target, methods[method], request(), all);
      encoded = { bytes, idAt: bytes.indexOf(idPlaceholder) };
      this.#encoded.set(cacheKey, encoded);
    }
    const { bytes, idAt } = encoded;
    if (idAt !== -1) {
      bytes.write(String(++lastMessageId).padStart(idDigits, "0"), idAt + idPrefix.length, "latin1");
    }
    return bytes;
  }
}

/** So many callers of one server. Disposing them closes their connections. */
export interface LoadClients extends Disposable {
  readonly all: readonly LoadClient[];
  readonly first: LoadClient;
}

export async function openClients(wire: LoadWire, target: Target, count = 1): Promise<LoadClients> {
  const connections = await wire.open(target, count);
  const all = connections.map((connection) => new LoadClient(wire, target, connection));
  const [first] = all;
  if (first === undefined) {
    throw new Error("at least one client is needed");
  }
  const close = () => {
    for (const connection of connections) {
      connection.close();
    }
  };
  return { all, first, [Symbol.dispose]: close };
}

function sendRequest(text: string, returnImmediately: boolean): Message {
  return create(SendMessageRequestSchema, {
    message: {
      messageId: idPlaceholder,
      role: Role.USER,
      parts: [{ content: { case: "text", value: text } }],
    },
    ...(returnImmediately ? { configuration: { returnImmediately } } : {}),
  });
}
