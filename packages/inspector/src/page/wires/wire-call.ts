import { type AgentClient, connectAgent, type TaskStream } from "@a2a-connect/client";
import type { MethodLocalName, RpcMethod } from "@a2a-connect/core";
import { formatMessage, parseMessage } from "@a2a-connect/core/internal";
import {
  type AgentInterface,
  SendMessageRequestSchema,
  type StreamResponse,
  StreamResponseSchema,
} from "@a2a-connect/proto";
import type { JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { type ReadonlySignal, signal } from "@preact/signals";
import { bindingName } from "../content/shown.ts";
import { explain, type Failure } from "../session/failure.ts";
import { cardUrl, forwardUrl } from "../session/page-facts.ts";
import { pageFetch, pagePlatform } from "../session/page-fetch.ts";
import { takeStreamSlot } from "../session/stream-slots.ts";
import { createBreath, createFramed, type Framed } from "../ui/frame.ts";
import { createRecording, type Recording } from "./recording.ts";

/** Events of a stream that are kept for show. */
const maxShown = 200;

/** What has come of a call so far. */
export interface Outcome {
  /** The last messages, as JSON. */
  readonly messages: readonly { readonly id: number | undefined; readonly json: JsonValue }[];
  readonly count: number;
  /** Numbers of events that were left out or came twice; a client that resumes has none. */
  readonly gaps: number;
}

let keys = 0;

/** A call over one wire, and all that went over it. */
export class WireCall {
  readonly key: number = ++keys;
  readonly method: RpcMethod;
  readonly request: JsonObject;
  readonly wire: AgentInterface;
  readonly recording: Recording = createRecording(pageFetch);
  readonly #left = new AbortController();
  readonly #failure = signal<Failure | undefined>(undefined);
  readonly #isOpen = signal(true);
  readonly #messages: { id: number | undefined; json: JsonValue }[] = [];
  #taskId = "";
  #count = 0;
  #gaps = 0;
  readonly #framed: Framed<WireCall> = createFramed<WireCall>(this);

  constructor(method: RpcMethod, request: JsonObject, wire: AgentInterface) {
    this.method = method;
    this.request = request;
    this.wire = wire;
  }

  get shown(): ReadonlySignal<{ readonly current: WireCall }> {
    return this.#framed.shown;
  }

  get outcome(): Outcome {
    return { messages: this.#messages, count: this.#count, gaps: this.#gaps };
  }

  /** The task that the stream is about; empty until that is known. */
  get taskId(): string {
    return this.#taskId;
  }

  get failure(): ReadonlySignal<Failure | undefined> {
    return this.#failure;
  }

  get isOpen(): ReadonlySignal<boolean> {
    return this.#isOpen;
  }

  leave(): void {
    this.#left.abort(new Error("you have stopped the call"));
  }

  /** Makes the call with a client that knows this wire alone. */
  async run(): Promise<void> {
    try {
      const { protocolBinding, protocolVersion } = this.wire;
      await using agent = await connectAgent(cardUrl, {
        // The card is no part of the call.
        fetch: (input, init) =>
          urlOf(input) === cardUrl ? pageFetch(input, init) : this.recording.fetch(input, init),
        platform: pagePlatform,
        pinBinding: protocolBinding,
        pinVersion: protocolVersion,
        retry: { initialDelayMs: 400 },
      });
      await this.#call(agent);
    } catch (error) {
      this.#failure.value = explain(error);
    } finally {
      this.#isOpen.value = false;
      this.#framed.changed();
    }
  }

  async #call(agent: AgentClient): Promise<void> {
    const { desc, localName } = this.method;
    const { signal } = this.#left;
    const request = parseMessage(desc.input, this.request);
    if (!this.method.streaming) {
      const call = agent.rpc[localName] as (
        request: Message,
        options: { signal: AbortSignal },
      ) => Promise<Message>; // it is unary
      const response = await call(request, { signal });
      this.#take(undefined, formatMessage(desc.output, response));
      return;
    }
    using _slot = takeStreamSlot(() => this.#left.abort(new Error("other streams were opened")));
    const stream = openStream(agent, localName, this.request, signal);
    const breathe = createBreath();
    for await (const response of stream) {
      this.#taskId = taskIdOf(response) ?? this.#taskId;
      this.#take(stream.lastEventId, formatMessage(StreamResponseSchema, response));
      if (breathe.isDue()) await breathe();
    }
  }

  #take(id: number | undefined, json: JsonValue): void {
    const before = this.#messages.at(-1)?.id;
    if (id !== undefined && before !== undefined && id !== before + 1) this.#gaps += 1;
    this.#messages.push({ id, json });
    if (this.#messages.length > maxShown) this.#messages.shift();
    this.#count += 1;
    this.#framed.changed();
  }
}

/** Whether the page can make calls over a wire. Of gRPC it cannot read the trailers: `a2a inspect` speaks it for the page. */
export function canSpeak({ protocolBinding }: AgentInterface): boolean {
  const name = bindingName(protocolBinding);
  return spoken.includes(name) || (name === "gRPC" && forwardUrl !== undefined);
}

const spoken = ["JSON-RPC", "HTTP+JSON", "Connect", "gRPC-Web"];

function taskIdOf({ payload }: StreamResponse): string | undefined {
  return payload.case === "task" ? payload.value.id : payload.value?.taskId;
}

function urlOf(input: RequestInfo | URL): string {
  return input instanceof Request ? input.url : String(input);
}

/** A stream that goes on over another connection when one breaks. */
function openStream(
  agent: AgentClient,
  name: MethodLocalName,
  request: JsonObject,
  signal: AbortSignal,
): TaskStream {
  if (name === "subscribeToTask") return agent.follow(String(request["id"] ?? ""), { signal, after: 0 });
  const { message } = parseMessage(SendMessageRequestSchema, request);
  if (message === undefined) throw new Error("the request has no message");
  const { metadata, ...rest } = message;
  return agent.stream({ ...rest, ...(metadata === undefined ? {} : { metadata }) }, { signal });
}
