import { type MethodLocalName, methods } from "@a2a-connect/core";
import {
  ListTasksRequestSchema,
  Role,
  SendMessageRequestSchema,
  SubscribeToTaskRequestSchema,
} from "@a2a-connect/proto";
import { create, type Message } from "@bufbuild/protobuf";
import type { Target } from "../servers/control.ts";
import type { Connection } from "./connection.ts";
import type { LoadWire } from "./load-wire.ts";

/** How one stream went. */
export interface StreamOutcome {
  readonly events: number;
  /** False when it was stopped because it took too long. */
  readonly complete: boolean;
}

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

  /** Sends a command and gives its result in JSON; returns at once when `immediately`. */
  async sendAndDecode(command: string, immediately = false): Promise<unknown> {
    const body = await this.#unary("sendMessage", `${command} ${immediately}`, () =>
      sendRequest(command, immediately),
    );
    return this.#wire.decode(methods.sendMessage, body);
  }

  /** Asks for the first page of tasks and gives the answer's bytes. */
  async listTasks(pageSize: number): Promise<Buffer> {
    return this.#unary("listTasks", `list ${pageSize}`, () => create(ListTasksRequestSchema, { pageSize }));
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
  subscribe(id: string): Promise<void> {
    const request = this.#encode("subscribeToTask", `subscribe ${id}`, () =>
      create(SubscribeToTaskRequestSchema, { id }),
    );
    const counter = this.#wire.createEventCounter();
    return new Promise((resolve, reject) => {
      const ended = this.#connection.exchange(Buffer.from(request), (chunk) => {
        counter.take(chunk);
        if (counter.count > 0) {
          resolve();
        }
      });
      ended.then(() => reject(new Error("the subscription ended")), reject);
    });
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

  #encode(method: MethodLocalName, key: string, request: () => Message): Buffer {
    const cacheKey = `${method} ${key}`;
    let encoded = this.#encoded.get(cacheKey);
    if (encoded === undefined) {
      const bytes = this.#wire.encode(this.#target, methods[method], request());
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
