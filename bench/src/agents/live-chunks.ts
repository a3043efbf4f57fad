import { setImmediate } from "node:timers/promises";
import { chunk, update } from "./command.ts";

/** Chunks as a model gives them: each arrives on a later turn of the event loop than the one before. */
export async function* liveChunks(count: number): AsyncGenerator<string> {
  for (let sent = 0; sent < count; sent++) {
    yield chunk;
    await setImmediate();
  }
}

/** Updates in the same way. */
export async function* liveUpdates(count: number, bytes: number): AsyncGenerator<string> {
  for (let ordinal = 1; ordinal <= count; ordinal++) {
    yield update(ordinal, bytes);
    await setImmediate();
  }
}
