import { isLarge, runtimeKey } from "@a2a-connect/core/internal";
import type { Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { eventIdHeader, type HttpResponse } from "../http.ts";
import { encodeTexts, slowEventBytes } from "../large-answer.ts";
import { nextSlice } from "../next-slice.ts";
import { openStream } from "../open-stream.ts";
import type { BindingSettings } from "../options.ts";
import { createStreamBody, type Encoded, type StreamFormat } from "../stream-body.ts";

/**
 * Answers with a stream of server-sent events (requirements I-5 to I-7, K-8).
 *
 * It asks for the first message before it sends anything, so that the implementation can still set headers and an early
 * error becomes an ordinary response. After `openAfterMs` without a message it opens the stream anyway.
 *
 * @throws the error that the implementation throws before the stream is open
 */
export async function respondStream(
  messages: AsyncIterator<Message>,
  context: HandlerContext,
  format: EventFormat,
  settings: BindingSettings,
): Promise<HttpResponse> {
  const { first, silent } = await openStream(messages, context, settings);
  const header = context.responseHeader;
  header.set("content-type", "text/event-stream");
  header.set("cache-control", "no-cache");
  header.set("x-accel-buffering", "no"); // otherwise nginx buffers events
  const body = createStreamBody({
    first,
    messages,
    format: new EventWriter(format, header, context.values.get(runtimeKey).callerNetwork),
    signal: context.signal,
    keepAlive: { chunk: keepAliveComment, everyMs: settings.keepAliveMs, timer: settings.timer },
  });
  return { status: 200, header, body, headAtOnce: silent };
}

function findFirstId(header: Headers): number | undefined {
  const value = header.get(eventIdHeader);
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

/** How a wire formats the events of a stream as JSON texts for SSE. */
export interface EventFormat {
  /** In pieces when it is large. */
  event(message: Message): string | Iterable<string>;
  /** The last event of a stream that broke. */
  failure(thrown: unknown): string;
  /** The type of that event. Default none, as for all others. */
  readonly failureType?: string;
}

const encoder = new TextEncoder();

/** What a silent stream sends. */
export const keepAliveComment: Uint8Array = encoder.encode(":\n\n");

/** Writes the events of one stream. They are numbered if the response's header has the id of the first. */
export class EventWriter implements StreamFormat {
  readonly #format: EventFormat;
  readonly #header: Headers;
  readonly #caller: string | undefined;
  #begun = false;
  #nextId: number | undefined;

  /** @param caller who reads them (`nextSlice`) */
  constructor(format: EventFormat, header: Headers, caller?: string) {
    this.#format = format;
    this.#header = header;
    this.#caller = caller;
  }

  message(message: Message): Encoded | Promise<Encoded> {
    return isLarge(message, slowEventBytes)
      ? nextSlice(this.#caller).then(() => this.#write(message))
      : this.#write(message);
  }

  #write(message: Message): Encoded {
    const text = this.#format.event(message);
    // Only now, because an implementation may know the first id after the head was sent.
    const id = this.#begun ? this.#nextId : findFirstId(this.#header);
    this.#begun = true;
    this.#nextId = id === undefined ? undefined : id + 1;
    const before = id === undefined ? "data: " : `id: ${id}\ndata: `;
    return typeof text === "string"
      ? encoder.encode(`${before}${text}\n\n`)
      : encodeTexts(surround(before, text));
  }

  end(): undefined {
    return undefined; // the end of the body says it
  }

  failure(thrown: unknown): Uint8Array {
    const { failureType } = this.#format;
    const type = failureType === undefined ? "" : `event: ${failureType}\n`;
    return encoder.encode(`${type}data: ${this.#format.failure(thrown)}\n\n`);
  }
}

function* surround(before: string, texts: Iterable<string>): Generator<string> {
  yield before;
  yield* texts;
  yield "\n\n";
}
