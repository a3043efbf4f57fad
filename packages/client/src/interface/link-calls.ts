import { eventIdsKey } from "@a2a-connect/bindings/client";
import type { DescMessage, DescMethodStreaming, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import type { ContextValues, StreamResponse, Transport, UnaryResponse } from "@connectrpc/connect";

/** A transport that is used until another one replaces it. */
export interface Replaceable {
  readonly transport: Transport;
  /** Ends its connections; running calls fail. */
  close(): void;
}

/**
 * Makes calls over the transport that is in use when they begin. A replaced transport is closed when the last of its
 * calls has ended.
 */
export class LinkCalls<Link extends Replaceable> implements Transport {
  /** Running calls, by their link: the one in use, and replaced ones with running calls. */
  readonly #calls = new Map<Link, number>();
  #current: Link;
  #closed = false;

  constructor(link: Link) {
    this.#current = link;
    this.#calls.set(link, 0);
  }

  get current(): Link {
    return this.#current;
  }

  replace(link: Link): void {
    const before = this.#current;
    this.#current = link;
    this.#calls.set(link, 0);
    this.#closeUnused(before);
    if (this.#closed) {
      link.close();
    }
  }

  /** Closes all of them. */
  close(): void {
    this.#closed = true;
    for (const link of this.#calls.keys()) {
      link.close();
    }
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: MessageInitShape<I>,
    contextValues?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    const { link, end } = this.#begin();
    try {
      return await link.transport.unary(method, signal, timeoutMs, header, input, contextValues);
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
    contextValues?: ContextValues,
  ): Promise<StreamResponse<I, O>> {
    const { link, end } = this.#begin();
    try {
      const { transport } = link;
      const response = await transport.stream(method, signal, timeoutMs, header, input, contextValues);
      if (contextValues?.get(eventIdsKey) === undefined) {
        return { ...response, message: watchEnd(response.message, signal, end) };
      }
      endWith(signal, end); // our event streams always abort it at their end, so their messages need no watch
      return response;
    } catch (error) {
      end();
      throw error;
    }
  }

  #begin(): { readonly link: Link; readonly end: () => void } {
    const link = this.#current;
    this.#calls.set(link, this.#callsOf(link) + 1);
    let isOver = false;
    const end = () => {
      if (!isOver) {
        isOver = true;
        this.#calls.set(link, this.#callsOf(link) - 1);
        this.#closeUnused(link);
      }
    };
    return { link, end };
  }

  #callsOf(link: Link): number {
    return this.#calls.get(link) ?? 0;
  }

  #closeUnused(link: Link): void {
    if (link !== this.#current && this.#callsOf(link) === 0) {
      this.#calls.delete(link);
      link.close();
    }
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
