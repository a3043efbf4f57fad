import type { Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { eventIdHeader, type HttpResponse } from "../http.ts";
import { openStream } from "../open-stream.ts";
import type { BindingSettings } from "../options.ts";
import { createEventBody, type EventFormat } from "./event-body.ts";

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
