import type { Message } from "@bufbuild/protobuf";
import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { BindingSettings } from "./options.ts";

/** A stream whose response may begin. */
export interface OpenedStream {
  /** The first message, settled or still pending. */
  readonly first: Promise<IteratorResult<Message>>;
  /** Only the head can be sent so far. */
  readonly silent: boolean;
}

const openKey = createContextKey<() => void>(() => {}, { description: "open the response of a stream" });

/**
 * For implementations of streams: all response headers are set, and the first message may take long. The head is then
 * sent now instead of after `openAfterMs`, and a later error becomes the stream's last event. Later calls do nothing,
 * and neither do those of unary operations.
 */
export function sendHeadNow({ values }: Pick<HandlerContext, "values">): void {
  values.get(openKey)();
}

/**
 * Asks for the first message, and waits until the response may begin: the message is there, or the implementation does
 * not want to wait for it, or `openAfterMs` have passed. Until then the implementation can set headers, and an error is
 * an ordinary response.
 *
 * @throws the error that the implementation throws before that
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
