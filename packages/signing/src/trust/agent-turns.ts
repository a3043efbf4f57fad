import type { CardMemory } from "./card-memory.ts";

/** The last one in each row. */
const rows = new WeakMap<CardMemory, Map<string, Promise<void>>>();

/**
 * Has one after the other done what concerns one agent in one memory. Between reading what is remembered and writing it anew
 * nobody else may: two cards at once would both be the first one, and the older one could be written last.
 *
 * @throws what `work` throws; those behind it are not concerned
 */
export function takeTurn<Result>(
  memory: CardMemory,
  key: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const row = rows.get(memory) ?? new Map<string, Promise<void>>();
  rows.set(memory, row);
  const result = (row.get(key) ?? Promise.resolve()).then(work);
  const leave = (): void => {
    if (row.get(key) === left) row.delete(key);
  };
  const left = result.then(leave, leave);
  row.set(key, left);
  return result;
}
