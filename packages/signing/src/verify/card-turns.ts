import { afterTurn, Wakes } from "@a2a-connect/core/internal";

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
