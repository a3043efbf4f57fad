import { inThreadTurn, SharedBudget } from "@a2a-connect/core/internal";
import type { Compression } from "@connectrpc/connect/protocol";

/**
 * Characters, or bytes, of what is being compressed or waits for its turn, of all callers; at most a quarter of it for one. Answers
 * are made faster than they are compressed, and a text may have six times the bytes that are stored of it.
 */
const waiting = new SharedBudget({
  max: 16 * 2 ** 20,
  maxShare: 1 / 4,
  refuse: () => new Error("what finds no room is sent as it is"),
});

/**
 * Compresses in a turn of the caller.
 *
 * @param signal aborts when the caller has gone
 * @returns undefined for what is to stay as it is: so much waits that it would wait for long, or its caller has gone
 */
export async function compressInTurn(
  compression: Compression,
  content: string | Uint8Array,
  caller: string | undefined,
  signal?: AbortSignal,
): Promise<Uint8Array | undefined> {
  if (!waiting.hasRoom(caller, content.length, 0)) return undefined;
  const held = waiting.open(caller);
  held.grow(content.length);
  try {
    const work = () => compression.compress(typeof content === "string" ? encoder.encode(content) : content);
    return await inThreadTurn(caller, work, signal);
  } catch (error) {
    if (signal?.aborted === true) return undefined;
    throw error;
  } finally {
    held.end();
  }
}

const encoder = new TextEncoder();
