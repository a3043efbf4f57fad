import { ReadTurns } from "./read-turns.ts";

/**
 * Long work that runs on Node's threads at a time. Node has four of them; one is left to what else needs a thread for a moment:
 * digests of keys, signatures, names of hosts, files.
 */
const maxAtATime = 3;

const turns = new ReadTurns<object | string>(maxAtATime, { maxOfOne: maxAtATime });

/**
 * Compresses, decompresses or tests a password when a thread is free for the caller. Without turns a caller that asks for hundreds
 * of compressed answers would have all threads for minutes.
 *
 * @param caller whose work it is. A body that has a turn of `BodyTurns` is given itself, and takes turns with callers: others wait for
 *   its turn of `BodyTurns`, so it must not wait for all that its caller does
 * @param work begins it
 * @param signal aborts when the caller has gone: then its work leaves the line
 * @throws ConnectError why the signal aborted while the work waited; what the work throws
 */
export function inThreadTurn<Result>(
  caller: object | string | undefined,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  return turns.run({ share: caller, signal: signal && (() => signal) }, work);
}
