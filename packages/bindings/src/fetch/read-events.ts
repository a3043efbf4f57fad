import { type ContextKey, createContextKey } from "@connectrpc/connect";
import { parseEvents } from "../sse/parse-events.ts";
import { parseJson, readChunks } from "./read-response.ts";

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

/**
 * The data of each server-sent event of a response as parsed JSON.
 *
 * @param maxLength longest event
 * @throws ConnectError Internal for an event that is not JSON
 */
export async function* readEvents(
  response: Response,
  maxLength: number,
  ids?: EventIds,
): AsyncGenerator<unknown, void> {
  for await (const { data, lastEventId } of parseEvents(readChunks(response), maxLength)) {
    if (ids !== undefined) {
      ids.last = lastEventId;
    }
    yield parseJson(data);
  }
}
