import type { CardMemory } from "./card-memory.ts";

/** When a turn ends before it is done. */
export interface TurnOptions {
  /** Whoever is aborted leaves the row, also while it is his turn. */
  readonly signal?: AbortSignal | undefined;
  /** How long a turn may take, from when it begins, in milliseconds. Default 15,000. */
  readonly timeoutMs?: number;
}

/** The last one in each row. */
const rows = new WeakMap<CardMemory, Map<string, Promise<void>>>();

/**
 * Has one after the other done what concerns one agent in one memory. Between reading what is remembered and writing it anew
 * nobody else may: two cards at once would both be the first one, and the older one could be written last.
 *
 * @param work gets a signal, aborted when its turn is over: it must write nothing any more
 * @throws what `work` throws, and what `signal` was aborted with; Error when the turn takes too long. Those behind it are not
 *   concerned
 */
export function takeTurn<Result>(
  memory: CardMemory,
  key: string,
  work: (turn: AbortSignal) => Promise<Result>,
  options: TurnOptions = {},
): Promise<Result> {
  const row = rows.get(memory) ?? new Map<string, Promise<void>>();
  rows.set(memory, row);
  const before = row.get(key) ?? Promise.resolve();
  const result = workAfter(before, key, work, options);
  const left = Promise.allSettled([before, result]).then(() => {
    if (row.get(key) === left) row.delete(key);
  });
  row.set(key, left);
  return result;
}

async function workAfter<Result>(
  before: Promise<void>,
  key: string,
  work: (turn: AbortSignal) => Promise<Result>,
  { signal, timeoutMs = 15_000 }: TurnOptions,
): Promise<Result> {
  signal?.throwIfAborted();
  const turn = new AbortController();
  const { promise: isOver, reject } = Promise.withResolvers<never>();
  turn.signal.addEventListener("abort", () => reject(turn.signal.reason), { once: true });
  const onAbort = () => turn.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const silence = new Error(`what is remembered of ${key} cannot be had: the memory does not answer`);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await Promise.race([before, isOver]);
    timer = setTimeout(() => turn.abort(silence), timeoutMs);
    return await Promise.race([work(turn.signal), isOver]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
