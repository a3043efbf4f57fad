import { setImmediate } from "node:timers/promises";
import { chunk } from "./command.ts";

/** Chunks as a model gives them: each arrives on a later turn of the event loop than the one before. */
export async function* liveChunks(count: number): AsyncGenerator<string> {
  for (let sent = 0; sent < count; sent++) {
    yield chunk;
    await setImmediate();
  }
}
