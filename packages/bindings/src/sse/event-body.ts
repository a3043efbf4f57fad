import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { BindingSettings } from "../options.ts";
import type { EventFormat } from "./respond-stream.ts";

/** What a body of server-sent events is made of. */
export interface EventSource {
  /** The pending or settled first message. */
  readonly first: Promise<IteratorResult<Message>>;
  /** The messages after it. */
  readonly messages: AsyncIterator<Message>;
  readonly format: EventFormat;
  /** Event id of the first message; undefined for a stream without ids. */
  readonly firstId: number | undefined;
  /** Ends the body at once. */
  readonly signal: AbortSignal;
  readonly settings: Pick<BindingSettings, "keepAliveMs" | "timer">;
}

/**
 * The body of an SSE response: one chunk for each event, asked for one at a time, so a slow reader holds up the
 * implementation and nothing is queued. While nothing happens it carries a comment every `keepAliveMs`.
 */
export function createEventBody(source: EventSource): AsyncIterableIterator<Uint8Array> {
  return new EventBody(source);
}

type Chunk = IteratorResult<Uint8Array>;

const encoder = new TextEncoder();
const keepAlive: Uint8Array = encoder.encode(":\n\n");
const end: Chunk = { done: true, value: undefined };

/** Not a generator: `return` has to work while `next` is pending. */
class EventBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: EventSource;
  #nextId: number | undefined;
  /** Takes the next chunk; undefined while nobody waits. */
  #waiting: ((chunk: Chunk) => void) | undefined;
  #stopKeepAlive: (() => void) | undefined;
  /** What came when nobody was waiting: an event, and the failure that may follow it. */
  readonly #ready: Chunk[] = [];
  #pulling = false;
  #ended = false;

  constructor(source: EventSource) {
    this.#source = source;
    this.#nextId = source.firstId;
    source.signal.addEventListener("abort", this.#abort, { once: true });
    this.#pull(source.first);
    if (source.signal.aborted) {
      this.#abort();
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Chunk> {
    const ready = this.#ready.shift();
    if (ready !== undefined) {
      return Promise.resolve(ready);
    }
    if (this.#ended) {
      return Promise.resolve(end);
    }
    return new Promise((resolve) => {
      const { settings, messages } = this.#source;
      this.#waiting = resolve;
      this.#stopKeepAlive = settings.timer(settings.keepAliveMs, () =>
        this.#deliver({ done: false, value: keepAlive }),
      );
      if (!this.#pulling) {
        this.#pull(messages.next());
      }
    });
  }

  return(): Promise<Chunk> {
    this.#close();
    return Promise.resolve(end);
  }

  #pull(message: Promise<IteratorResult<Message>>): void {
    this.#pulling = true;
    message.then(
      (result) => this.#arrive(result),
      (thrown: unknown) => this.#fail(thrown),
    );
  }

  #arrive(result: IteratorResult<Message>): void {
    this.#pulling = false;
    if (this.#ended) {
      return; // Too late: the reader has gone, or was told that the server leaves.
    }
    if (result.done === true) {
      this.#end();
      this.#deliver(end);
      return;
    }
    let text: string;
    try {
      text = this.#source.format.event(result.value);
    } catch (thrown) {
      this.#fail(thrown);
      this.#returnMessages();
      return;
    }
    this.#deliver({ done: false, value: this.#encode(text) });
  }

  #encode(text: string): Uint8Array {
    const id = this.#nextId;
    if (id === undefined) {
      return encoder.encode(`data: ${text}\n\n`);
    }
    this.#nextId = id + 1;
    return encoder.encode(`id: ${id}\ndata: ${text}\n\n`);
  }

  #fail(thrown: unknown): void {
    if (this.#ended) {
      return; // The reader has gone, and with it whoever would want to know.
    }
    this.#end();
    this.#deliver({
      done: false,
      value: encoder.encode(`data: ${this.#source.format.failure(thrown)}\n\n`),
    });
  }

  #deliver(chunk: Chunk): void {
    const take = this.#waiting;
    if (take === undefined) {
      this.#ready.push(chunk);
      return;
    }
    this.#waiting = undefined;
    this.#stopKeepAlive?.();
    take(chunk);
  }

  /** A reader that has gone is told nothing; one that the server leaves is told why (requirement K-8). */
  readonly #abort = (): void => {
    const reason: unknown = this.#source.signal.reason;
    if (reason instanceof ConnectError && reason.code !== Code.Canceled) {
      this.#fail(reason);
      this.#returnMessages();
    } else {
      this.#close();
    }
  };

  readonly #close = (): void => {
    if (this.#ended) {
      return;
    }
    this.#end();
    this.#ready.length = 0;
    this.#waiting?.(end);
    this.#waiting = undefined;
    this.#stopKeepAlive?.();
    this.#returnMessages();
  };

  #end(): void {
    this.#ended = true;
    this.#source.signal.removeEventListener("abort", this.#abort);
  }

  /** Lets the implementation clean up. It may take its time: nobody waits for it, nor for what it throws. */
  #returnMessages(): void {
    this.#source.messages.return?.().catch(() => {});
  }
}
