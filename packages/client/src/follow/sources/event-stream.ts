import { eventIdHeader } from "@a2a-connect/bindings";
import { type EventIds, eventIdsKey, OnlyMessage, type ReadyMessages } from "@a2a-connect/bindings/client";
import { isTerminal } from "@a2a-connect/core";
import type { A2AService, StreamResponse } from "@a2a-connect/proto";
import type { MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import { SilenceWatch } from "../../calls/silence-watch.ts";
import type { ClientContext } from "../../client-context.ts";
import { abortsAtEndKey } from "../../interface/agent-transport.ts";
import { SilenceError } from "../../platform.ts";
import { generationOf } from "../task-tracker.ts";
import type { NumberedResponse, Source } from "./source.ts";

type StreamingMethod = (typeof A2AService.method)["sendStreamingMessage" | "subscribeToTask"];

/** A call whose response is a stream. */
export interface StreamCall<Method extends StreamingMethod> {
  readonly method: Method;
  readonly request: MessageShape<Method["input"]>;
  readonly headers: Readonly<Record<string, string>>;
  /** Default: the call ends when it is disposed of. */
  readonly signal?: AbortSignal;
}

/**
 * The messages of one connection, with numbers: the response's header has the number of the first message, and each
 * later one is one more (docs/streams.md). Server-sent events that have
 * ids of their own keep those. Without the number in the header nothing is numbered, because the server cannot resume.
 *
 * `read` rejects with a ConnectError: Unavailable after `idleTimeoutMs` of silence, or the error of the call.
 */
export class EventStream<Method extends StreamingMethod> implements Source {
  readonly #context: ClientContext;
  readonly #call: StreamCall<Method>;
  readonly #watch: SilenceWatch;
  readonly #ids: EventIds = { last: "" };
  #messages: (AsyncIterator<StreamResponse> & Partial<ReadyMessages<StreamResponse>>) | undefined;
  #next: number | undefined;
  #lastGeneration: number | undefined;
  /** Whether the last response is the last one of its stream. */
  #isLast = false;

  constructor(context: ClientContext, call: StreamCall<Method>) {
    const { clock, idleTimeoutMs } = context.settings;
    this.#context = context;
    this.#call = call;
    this.#watch = new SilenceWatch(clock, idleTimeoutMs, call.signal);
  }

  read(): NumberedResponse | Promise<NumberedResponse | undefined> {
    const ready = this.#messages?.takeReady?.();
    return ready === undefined ? this.#await() : this.#number(ready);
  }

  async #await(): Promise<NumberedResponse | undefined> {
    this.#watch.heard(); // the time that the caller took is not silence of the server
    try {
      this.#messages ??= await this.#open();
      const { done, value } = await this.#messages.next();
      return done === true ? undefined : this.#number(value);
    } catch (error) {
      throw this.#watch.isSilent && this.#call.signal?.aborted !== true ? this.#silence(error) : error;
    } finally {
      this.#watch.pause();
    }
  }

  /** Ends the call. Connect's wrapper, which interceptors bring, has no return(): to leave early, abort the call. */
  [Symbol.dispose](): void {
    if (this.#isLast && this.#messages !== undefined) {
      void this.#awaitEnd(this.#messages);
    } else {
      this.#watch.stop();
    }
  }

  /**
   * The server is about to end the stream. To abort it now would cost the connection over HTTP/1.1, and over HTTP/2 a
   * reset, which servers log.
   */
  async #awaitEnd(messages: AsyncIterator<StreamResponse>): Promise<void> {
    this.#watch.outliveCaller();
    const late = this.#context.settings.clock.sleep(endLimitMs, this.#watch.signal);
    late.then(
      () => this.#watch.stop(),
      () => {}, // it has ended
    );
    try {
      await messages.next();
    } catch {
      // The task is over all the same.
    } finally {
      this.#watch.stop();
    }
  }

  async #open(): Promise<AsyncIterator<StreamResponse>> {
    const { method, request, headers } = this.#call;
    const { header, message } = await this.#context.transport.stream(
      method,
      this.#watch.signal,
      undefined,
      headers,
      new OnlyMessage(request),
      createContextValues().set(eventIdsKey, this.#ids).set(abortsAtEndKey, true),
    );
    this.#next = parseId(header.get(eventIdHeader)); // of the first message
    this.#watch.heard();
    return message[Symbol.asyncIterator]();
  }

  #number(response: StreamResponse): NumberedResponse {
    const id = this.#next === undefined ? undefined : (parseId(this.#ids.last) ?? this.#next);
    const generation = generationOf(response);
    this.#isLast = endsStream(response);
    const repeatsGeneration =
      isUpdate(response) && generation !== undefined && generation === this.#lastGeneration;
    this.#lastGeneration = generation;
    this.#next = id === undefined ? undefined : id + 1;
    return { response, id, repeatsGeneration };
  }

  /** The watch has aborted the call, which looks Canceled; for the loop it is a broken connection. */
  #silence(error: unknown): ConnectError {
    return new ConnectError(
      `the server was silent for ${this.#context.settings.idleTimeoutMs} ms`,
      Code.Unavailable,
      undefined,
      undefined,
      new SilenceError("nothing was heard", { cause: error }),
    );
  }
}

/** How long a server may take to end a stream after its last response, 1 s. */
const endLimitMs = 1_000;

/** Whether a server sends nothing more after a response: a direct Message, or a task that has ended. */
function endsStream({ payload }: StreamResponse): boolean {
  switch (payload.case) {
    case "message":
      return true;
    case "task":
    case "statusUpdate":
      return payload.value.status !== undefined && isTerminal(payload.value.status.state);
    default:
      return false;
  }
}

/** A server may send the same Task again; an update is always new. */
function isUpdate({ payload }: StreamResponse): boolean {
  return payload.case === "statusUpdate" || payload.case === "artifactUpdate";
}

function parseId(value: string | null): number | undefined {
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
