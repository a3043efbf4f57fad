import type { Message } from "@bufbuild/protobuf";
import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { BindingSettings } from "./options.ts";

/** A stream whose response may begin. */
export interface OpenedStream {
  /** The first message, there or still to come. */
  readonly first: Promise<IteratorResult<Message>>;
  /** There is nothing to send yet but the head. */
  readonly silent: boolean;
}

const openKey = createContextKey<() => void>(() => {}, { description: "open the response of a stream" });

/**
 * For implementations of streams: all response headers are set, and the first message may be long in coming. Lets the
 * head go out now instead of after `openAfterMs`; an error that follows is the stream's last event. Later calls, and
 * those of unary operations, do nothing.
 */
export function sendHeadNow({ values }: Pick<HandlerContext, "values">): void {
  values.get(openKey)();
}

/**
 * Ask for the first message, and wait until the response may begin: the message is there, or the implementation does not
 * want to wait for it, or `openAfterMs` have passed. Until then it can set headers, and an error is an ordinary response.
 *
 * @throws whatever the implementation throws before that
 */
export async function openStream(
  messages: AsyncIterator<Message>,
  { values }: Pick<HandlerContext, "values">,
  { timer, openAfterMs }: Pick<BindingSettings, "timer" | "openAfterMs">,
): Promise<OpenedStream> {
  const { promise: silent, resolve, reject } = Promise.withResolvers<boolean>();
  const openSilent = (): void => resolve(true);
  values.set(openKey, openSilent);
  const first = messages.next();
  const stop = timer(openAfterMs, openSilent);
  first.then(() => resolve(false), reject).finally(stop);
  return { first, silent: await silent };
}
