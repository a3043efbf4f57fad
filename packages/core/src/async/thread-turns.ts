import { CallerQueue } from "../caller-queue.ts";

/**
 * Long work that runs on Node's threads at a time. Node has four of them; one is left to what else needs a thread for a moment:
 * digests of keys, signatures, names of hosts, files.
 */
const maxAtATime = 3;

let running = 0;
const waiting = new CallerQueue<() => void>();

/**
 * Compresses, decompresses or tests a password when a thread is free for the caller. Without turns a caller that asks for hundreds
 * of compressed answers would have all threads for minutes.
 *
 * @param caller whose work it is; a body that has a turn of `BodyTurns` is one of its own, because others wait for that turn
 * @param work begins it
 */
export async function inThreadTurn<Result>(
  caller: object | string | undefined,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  if (running < maxAtATime) running += 1;
  else await new Promise<void>((resolve) => waiting.push(caller, resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next(); // it has the place
  }
}
