import { OnlyMessage, onlyMessage, type ReadyMessages } from "@a2a-connect/bindings/client";
import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type DescMethodUnary,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  type ContextKey,
  type ContextValues,
  createContextKey,
  type StreamResponse,
  type Transport,
  type UnaryResponse,
} from "@connectrpc/connect";
import { CardInterfaces } from "./card-interfaces.ts";
import type { Candidate } from "./choose-interfaces.ts";
import type { UsedCard } from "./used-card.ts";

/**
 * A context value of streaming calls: their caller always aborts the signal when it is done with the messages. They then
 * need no watch for their end, which would cost promises for each message. Default false.
 */
export const abortsAtEndKey: ContextKey<boolean> = createContextKey<boolean>(false, {
  description: "the caller aborts the signal at the end of the stream",
});

/**
 * The one transport of a client. A call goes to the interfaces of the card that is in use when the call begins. The
 * connections of a replaced card end with its last call.
 */
export class AgentTransport implements Transport {
  #interfaces: CardInterfaces;
  /** Running calls, by the card they began with: the one in use, and replaced ones with running calls. */
  readonly #running = new Map<CardInterfaces, number>();
  #isClosed = false;

  /** @throws NoInterfaceError when none of the interfaces has a URL that its wire can call */
  constructor(card: UsedCard) {
    this.#interfaces = new CardInterfaces(card);
    this.#running.set(this.#interfaces, 0);
  }

  /** The card in use. */
  get card(): UsedCard {
    return this.#interfaces.card;
  }

  /** The interface in use: the first, then the one that answered last. */
  get current(): Candidate {
    return this.#interfaces.current;
  }

  /** Replaces the card. @throws NoInterfaceError as the constructor does; then the old card stays in use */
  use(card: UsedCard): void {
    const [before, next] = [this.#interfaces, new CardInterfaces(card)];
    this.#interfaces = next;
    this.#running.set(next, 0);
    this.#closeUnused(before);
    if (this.#isClosed) {
      next.close();
    }
  }

  /** Ends all connections; running calls fail. */
  close(): void {
    this.#isClosed = true;
    for (const interfaces of this.#running.keys()) {
      interfaces.close();
    }
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: MessageInitShape<I>,
    values?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    const message = create(method.input, input);
    const { interfaces, end } = this.#begin();
    try {
      return await interfaces.call(
        { method, signal, timeoutMs, header, message },
        ({ transport, timeoutMs: leftMs, header: sent, message: asked }) =>
          transport.unary(method, signal, leftMs, sent, asked, values),
      );
    } finally {
      end();
    }
  }

  async stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: AsyncIterable<MessageInitShape<I>>,
    values?: ContextValues,
  ): Promise<StreamResponse<I, O>> {
    const { interfaces, end } = this.#begin();
    try {
      const message = await onlyMessage(input, method);
      const response = await interfaces.call(
        { method, signal, timeoutMs, header, message },
        async ({ transport, timeoutMs: leftMs, header: sent, message: asked }) => {
          const only = new OnlyMessage(asked);
          const opened = await transport.stream(method, signal, leftMs, sent, only, values);
          return interfaces.card.settings.auth === undefined ? opened : await withFirst(opened);
        },
      );
      if (values?.get(abortsAtEndKey) !== true) {
        return { ...response, message: watchEnd(response.message, signal, end) };
      }
      endWith(signal, end);
      return response;
    } catch (error) {
      end();
      throw error;
    }
  }

  #begin(): { readonly interfaces: CardInterfaces; readonly end: () => void } {
    const interfaces = this.#interfaces;
    this.#count(interfaces, 1);
    let isOver = false;
    const end = () => {
      if (!isOver) {
        isOver = true;
        this.#count(interfaces, -1);
        this.#closeUnused(interfaces);
      }
    };
    return { interfaces, end };
  }

  #count(interfaces: CardInterfaces, change: 1 | -1): void {
    this.#running.set(interfaces, (this.#running.get(interfaces) ?? 0) + change);
  }

  #closeUnused(interfaces: CardInterfaces): void {
    if (interfaces !== this.#interfaces && this.#running.get(interfaces) === 0) {
      this.#running.delete(interfaces);
      interfaces.close();
    }
  }
}

/**
 * A stream as of its first message. A server that refuses the caller's credentials says so there: Connect and gRPC-Web have no
 * status before.
 */
async function withFirst<I extends DescMessage, O extends DescMessage>(
  response: StreamResponse<I, O>,
): Promise<StreamResponse<I, O>> {
  const messages = response.message[Symbol.asyncIterator]();
  return { ...response, message: new BegunMessages(await messages.next(), messages) };
}

/** The messages of a stream whose first one was read. */
class BegunMessages<T> implements AsyncIterable<T>, AsyncIterator<T>, ReadyMessages<T> {
  readonly #rest: AsyncIterator<T> & Partial<ReadyMessages<T>>;
  #first: IteratorResult<T> | undefined;

  constructor(first: IteratorResult<T>, rest: AsyncIterator<T> & Partial<ReadyMessages<T>>) {
    this.#first = first;
    this.#rest = rest;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T>> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? (await this.#rest.next());
  }

  takeReady(): T | undefined {
    return this.#first === undefined ? this.#rest.takeReady?.() : undefined;
  }
}

/** A caller that leaves a stream early aborts its signal: the iterables of Connect's clients have no return(). */
async function* watchEnd<T>(
  messages: AsyncIterable<T>,
  signal: AbortSignal | undefined,
  end: () => void,
): AsyncGenerator<T, void> {
  endWith(signal, end);
  try {
    yield* messages;
  } finally {
    signal?.removeEventListener("abort", end);
    end();
  }
}

function endWith(signal: AbortSignal | undefined, end: () => void): void {
  if (signal?.aborted === true) {
    end();
  } else {
    signal?.addEventListener("abort", end, { once: true });
  }
}
