import { afterTurn, ReadTurns, Wakes } from "@a2a-connect/core/internal";

const turns = new Wakes(
  { nextTurn: () => new Promise<void>(afterTurn), ticks: () => performance.now() },
  512,
);

/**
 * Resolves when the next piece of work on a card may begin. A piece takes up to a tenth of a second for a card of a megabyte, and many
 * cards that have waited for the same key set, a memory or threads would go on in one turn of the event loop.
 *
 * @param url where the card came from: origins take turns
 * @throws what the signal was aborted with
 */
export async function cardTurn(
  url: string | URL | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  await new Promise<void>(afterTurn); // the piece before this one has then ended, so that its time counts
  await turns.turn(url && new URL(url).origin);
  signal?.throwIfAborted();
}

/** Cards of which a signature is checked at a time. Node has four threads for Web Crypto, which other work needs, too. */
const maxChecked = 2;

const checks = new ReadTurns<string | object>(maxChecked, { maxOfOne: 1 });

/**
 * Checks a signature when it is its turn: one at a time for each origin, and few at a time in all. Each makes an input of the whole
 * card, which Web Crypto copies and keeps until one of Node's threads has digested it.
 *
 * @param from the origin of the card, otherwise the card itself: they take turns
 * @param check waits for nothing that another party sends
 * @throws what the signal was aborted with while the signature waited, and what `check` throws
 */
export async function inSignatureTurn<Result>(
  from: string | object,
  signal: AbortSignal | undefined,
  check: () => Promise<Result>,
): Promise<Result> {
  try {
    return await checks.run({ share: from, signal: signal && (() => signal) }, check);
  } catch (error) {
    signal?.throwIfAborted(); // the turns have an error of their own for that
    throw error;
  }
}
