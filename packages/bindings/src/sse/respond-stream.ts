import type { Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { eventIdHeader, type HttpResponse } from "../http.ts";
import { encodeTexts } from "../large-answer.ts";
import { openStream } from "../open-stream.ts";
import type { BindingSettings } from "../options.ts";
import { createStreamBody, type StreamFormat, type StreamSource } from "../stream-body.ts";

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
  const body = createEventBody({
    first,
    messages,
    format,
    firstId: () => findFirstId(header),
    signal: context.signal,
    settings,
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
}

/** Options of a body of server-sent events. */
export interface EventSource extends Pick<StreamSource, "first" | "messages" | "signal"> {
  readonly format: EventFormat;
  /**
   * Event id of the first message; undefined for a stream without ids. Called when that message is there, because an
   * implementation may know it only after the response's head was sent.
   */
  readonly firstId: () => number | undefined;
  readonly settings: Pick<BindingSettings, "keepAliveMs" | "timer">;
}

/** The body of an SSE response: one chunk for each event. During silence it sends a comment every `keepAliveMs`. */
export function createEventBody(source: EventSource): AsyncIterableIterator<Uint8Array> {
  const { first, messages, signal, format, firstId, settings } = source;
  return createStreamBody({
    first,
    messages,
    signal,
    format: new EventWriter(format, firstId),
    keepAlive: { chunk: comment, everyMs: settings.keepAliveMs, timer: settings.timer },
  });
}

function* surround(before: string, texts: Iterable<string>): Generator<string> {
  yield before;
  yield* texts;
  yield "\n\n";
}

const encoder = new TextEncoder();
const comment: Uint8Array = encoder.encode(":\n\n");

/** Numbers the events of one stream. */
class EventWriter implements StreamFormat {
  readonly #format: EventFormat;
  readonly #firstId: () => number | undefined;
  #begun = false;
  #nextId: number | undefined;

  constructor(format: EventFormat, firstId: () => number | undefined) {
    this.#format = format;
    this.#firstId = firstId;
  }

  message(message: Message): Uint8Array | Iterator<Uint8Array> {
    const text = this.#format.event(message);
    const id = this.#begun ? this.#nextId : this.#firstId();
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
    return encoder.encode(`data: ${this.#format.failure(thrown)}\n\n`);
  }
}
