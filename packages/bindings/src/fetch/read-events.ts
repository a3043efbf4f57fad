import { parseEvents } from "../sse/parse-events.ts";
import { parseJson, readChunks } from "./read-response.ts";

/**
 * The data of each server-sent event of a response as parsed JSON.
 *
 * @param maxLength longest event
 * @throws ConnectError Internal for an event that is not JSON
 */
export async function* readEvents(response: Response, maxLength: number): AsyncGenerator<unknown, void> {
  for await (const { data } of parseEvents(readChunks(response), maxLength)) {
    yield parseJson(data);
  }
}
