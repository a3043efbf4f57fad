import type { Message } from "@bufbuild/protobuf";
import { type ContextKey, createContextKey } from "@connectrpc/connect";

/**
 * The JSON text of a response, for a caller that needs what a message does not keep: unknown members, and names that
 * occur twice.
 */
export class ReceivedText {
  #message: Message | undefined;
  #text = "";

  /** For transports: sets the text of this message. */
  keep(message: Message, text: string): void {
    this.#message = message;
    this.#text = text;
  }

  /**
   * The text of that message, character for character; for JSON-RPC the text of the `result`. Undefined when the
   * message did not come as JSON, or when an interceptor replaced it.
   */
  of(message: Message): string | undefined {
    return message === this.#message ? this.#text : undefined;
  }
}

/** A context value of unary calls: the two JSON transports store the response's text in it. Default none. */
export const receivedTextKey: ContextKey<ReceivedText | undefined> = createContextKey<
  ReceivedText | undefined
>(undefined, { description: "the JSON text of the response" });
