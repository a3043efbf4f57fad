import { untilAborted, withinTime } from "@a2a-connect/core/internal";
import type { CardMemory } from "./card-memory.ts";

/** How long a turn may take, from when it begins. */
const timeoutMs = 15_000;

/** The last one in each row. */
const rows = new WeakMap<CardMemory, Map<string, Promise<void>>>();

/**
 * Has one after the other done what concerns one agent in one memory. Two cards between whose reading and writing the other one
 * came would both be the first one, and the older one could be written last.
 *
 * @param work gets a signal, aborted when its turn is over: it must write nothing any more
 * @param signal once it is aborted, the caller waits no longer, and its turn is over
 * @throws what `work` throws, and what `signal` was aborted with; Error when the turn takes too long. Those behind it are not
 *   concerned
 */
export function takeTurn<Result>(
  memory: CardMemory,
  key: string,
  work: (turn: AbortSignal) => Promise<Result>,
  signal?: AbortSignal | undefined,
): Promise<Result> {
  const row = rows.get(memory) ?? new Map<string, Promise<void>>();
  rows.set(memory, row);
  const before = row.get(key) ?? Promise.resolve();
  const late = new Error(`what is remembered of ${key} cannot be read: the memory does not answer`);
  const result = untilAborted(before, signal).then(() => withinTime(timeoutMs, late, work, { signal }));
  const left = Promise.allSettled([before, result]).then(() => {
    if (row.get(key) === left) row.delete(key);
  });
  row.set(key, left);
  return result;
}
