import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextKey, createContextKey } from "@connectrpc/connect";
import type { CallEnding } from "../client-call.ts";
import { EventParser, type ServerSentEvent } from "../sse/parse-events.ts";
import { parseResponse, parseResponseJson, responseCutOff } from "./read-response.ts";
import type { WireReader, WireResponse } from "./wire-fetch.ts";

/** The ids of a stream's server-sent events, for a caller that compares them with its own count. */
export interface EventIds {
  /** The `id` of the last delivered message; `""` before the first. */
  last: string;
}

/** A context value of streaming calls: the two JSON transports keep it up to date. Default none. */
export const eventIdsKey: ContextKey<EventIds | undefined> = createContextKey<EventIds | undefined>(
  undefined,
  { description: "ids of server-sent events" },
);

/** How the messages of a stream are read. */
export interface MessageReading {
  /** Longest event. */
  readonly maxLength: number;
  readonly ids: EventIds | undefined;
  /** Takes the JSON of the message out of that of an event: for JSON-RPC, its `result`. @throws ConnectError for an event that is an error */
  read(json: unknown): unknown;
  /** What may end the call before its response has ended. */
  readonly ending: CallEnding;
}

/** Messages of which several may have arrived together. */
export interface ReadyMessages<T> extends AsyncIterator<T, void> {
  /**
   * The next message when it has arrived already; otherwise undefined, and `next` waits for it.
   *
   * @throws ConnectError as `next` rejects
   */
  takeReady(): T | undefined;
}

/**
 * The messages in the server-sent events of a response. This is no generator, because each one between the socket and the
 * caller costs every event; the client's `observe` is the only one, unless there are interceptors.
 *
 * It rejects with a ConnectError: Internal for an event that is not JSON, or no message of the type; Unavailable when the
 * connection breaks; the server's own error, when an event is one.
 */
export class MessageStream<Desc extends DescMessage>
  implements AsyncIterable<MessageShape<Desc>, void>, ReadyMessages<MessageShape<Desc>>
{
  readonly #desc: Desc;
  readonly #reading: MessageReading;
  readonly #parser: EventParser;
  /** Undefined when the stream is over. */
  #reader: WireReader | undefined;

  constructor(desc: Desc, { body }: WireResponse, reading: MessageReading) {
    this.#desc = desc;
    this.#reading = reading;
    this.#parser = new EventParser(reading.maxLength);
    this.#reader = body?.getReader();
  }

  takeReady(): MessageShape<Desc> | undefined {
    if (this.#reader === undefined) {
      return undefined;
    }
    try {
      this.#reading.ending.throwIfOver();
      for (;;) {
        const event = this.#parser.next();
        if (event !== undefined) {
          return this.#parse(event);
        }
        const chunk = this.#reader.takeReady?.();
        if (chunk === undefined) {
          return undefined;
        }
        this.#parser.push(chunk);
      }
    } catch (thrown) {
      throw this.#fail(thrown);
    }
  }

  async next(): Promise<IteratorResult<MessageShape<Desc>, void>> {
    for (;;) {
      const value = this.takeReady();
      if (value !== undefined) {
        return { done: false, value };
      }
      if (this.#reader === undefined) {
        return { done: true, value: undefined };
      }
      let read: Awaited<ReturnType<WireReader["read"]>>;
      try {
        read = await this.#reader.read();
      } catch (thrown) {
        throw this.#fail(responseCutOff(thrown));
      }
      if (read.done) {
        this.#end();
      } else {
        this.#parser.push(read.value);
      }
    }
  }

  #end(): void {
    try {
      this.#parser.end();
      this.#close();
    } catch (thrown) {
      throw this.#fail(thrown);
    }
  }

  /** To stop reading early closes the connection. */
  async return(): Promise<IteratorResult<MessageShape<Desc>, void>> {
    this.#close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #parse({ data, lastEventId }: ServerSentEvent): MessageShape<Desc> {
    const { ids, read, maxLength } = this.#reading;
    if (ids !== undefined) {
      ids.last = lastEventId;
    }
    const json = parseResponseJson(data, maxLength);
    if (json === undefined) {
      throw new ConnectError("an event of the stream is not JSON", Code.Internal);
    }
    return parseResponse(this.#desc, read(json));
  }

  #fail(thrown: unknown): ConnectError {
    this.#close();
    return this.#reading.ending.errorFor(thrown);
  }

  #close(): void {
    this.#reading.ending[Symbol.dispose]();
    this.#reader?.cancel().catch(() => {}); // it is closed already, or the rest is not needed
    this.#reader = undefined;
  }
}
