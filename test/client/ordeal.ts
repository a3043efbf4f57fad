import type { Random } from "../faults/random.ts";

/** How a connection comes to its end: at once and without a word, as if its server had closed it, or by falling silent. */
export type BadEnd = "reset" | "fin" | "stall";

/** What happens to the bytes that go one way over a connection. */
export interface Flow {
  /** They pass in pieces of at most so many bytes, one each turn of the event loop. */
  readonly pieceBytes?: number;
  /** Each read waits this long. */
  readonly delayMs?: number;
  /** So many bytes pass, and then this happens. `"silence"`: once something has passed and then nothing for 2 ms. */
  readonly end?: { readonly after: number | "silence"; readonly how: BadEnd };
}

/** What a connection goes through. */
export interface Ordeal {
  readonly request: Flow;
  readonly response: Flow;
}

/**
 * The ordeals of the first connections of a run, one each; those after them are whole, so that every run can come to an
 * end. The same for the same seed.
 */
export function planOrdeals(random: Random): readonly Ordeal[] {
  return Array.from({ length: random.between(1, 4) }, () => {
    const spoiled = random.between(0, 3); // responses are longer, and matter more
    return {
      request: planFlow(random, spoiled === 0),
      response: planFlow(random, spoiled !== 0),
    };
  });
}

/** One line for who has to find out what happened. */
export function describeOrdeal({ request, response }: Ordeal): string {
  return `request ${JSON.stringify(request)}, response ${JSON.stringify(response)}`;
}

function planFlow(random: Random, ends: boolean): Flow {
  const pieceBytes = pick(random, [undefined, undefined, 1, 3, 1_000]);
  const delayMs = pick(random, [undefined, undefined, undefined, 1, 4]);
  return {
    ...(pieceBytes === undefined ? {} : { pieceBytes }),
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(ends ? { end: { after: planCut(random), how: planEnd(random) } } : {}),
  };
}

/** Before anything, after everything, or anywhere between; most of all early, where heads and first frames are. */
function planCut(random: Random): number | "silence" {
  const kind = random.between(0, 9);
  if (kind === 0) return 0;
  if (kind === 1) return "silence";
  return random.between(1, kind < 6 ? 600 : 5_000);
}

/** Stalls cost their reader its patience, so there are few. */
function planEnd(random: Random): BadEnd {
  return pick(random, ["reset", "reset", "reset", "fin", "fin", "fin", "stall"]);
}

function pick<Choice>(random: Random, choices: readonly [Choice, ...Choice[]]): Choice {
  return choices[random.between(0, choices.length - 1)] ?? choices[0];
}
