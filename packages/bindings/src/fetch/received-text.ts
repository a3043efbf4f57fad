import type { Message } from "@bufbuild/protobuf";
import { type ContextKey, createContextKey } from "@connectrpc/connect";

/**
 * The JSON that a response was read from, for a caller that needs more of it than a message keeps: members that nobody knows,
 * names that stand twice.
 */
export class ReceivedText {
  #message: Message | undefined;
  #text = "";

  /** For transports: what this message was read from. */
  keep(message: Message, text: string): void {
    this.#message = message;
    this.#text = text;
  }

  /**
   * What that message was read from, character for character; of JSON-RPC it is the `result`. Undefined when it did not come as
   * JSON, or an interceptor put it there in place of the one that came.
   */
  of(message: Message): string | undefined {
    return message === this.#message ? this.#text : undefined;
  }
}

/** A context value of unary calls: the two JSON transports tell it the text of the response. Default none. */
export const receivedTextKey: ContextKey<ReceivedText | undefined> = createContextKey<
  ReceivedText | undefined
>(undefined, { description: "the JSON text of the response" });
