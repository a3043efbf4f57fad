import { checkMembers } from "../option-members.ts";
import type { CardMemory, CardMemoryLimits, RememberedCard } from "./card-memory.ts";

/**
 * Remembers cards until the process ends.
 *
 * @throws TypeError when a limit is not a number above 0
 */
export function createCardMemory(limits: CardMemoryLimits = {}): CardMemory {
  checkMembers("the limits of a card memory", limits);
  const trim = createTrim(limits, 64 * 1024 * 1024);
  const cards = new Map<string, RememberedCard>(); // the agent that was met last is last
  return {
    read: async (key) => {
      const card = cards.get(key);
      cards.delete(key);
      if (card !== undefined) cards.set(key, card);
      return card;
    },
    write: async (key, card, expected) => {
      if (expected !== undefined && !isSame(cards.get(key), expected ?? undefined)) return false;
      cards.delete(key);
      cards.set(key, card);
      trim(cards);
      return true;
    },
    forget: async (key) => void cards.delete(key),
  };
}

/** What was read is the very object that is kept, or a copy of it. */
function isSame(one: RememberedCard | undefined, other: RememberedCard | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/**
 * Takes out of cards what is beyond the limits: first the agents that come first, then what cards declare. Keys are small, but how
 * much a card declares its author chooses: one that is too large alone goes first, so that others keep theirs.
 *
 * @throws TypeError when a limit is not a number above 0
 */
export function createTrim(
  limits: CardMemoryLimits,
  defaultMaxLength: number,
): (cards: Map<string, RememberedCard>) => void {
  const { maxCards = 10_000, maxLength = defaultMaxLength } = limits;
  if (!(maxCards > 0 && maxLength > 0)) {
    throw new TypeError("the limits of a card memory are numbers above 0");
  }
  return (cards) => {
    for (const key of cards.keys()) {
      if (cards.size <= maxCards || cards.size === 1) break;
      cards.delete(key);
    }
    let length = 0;
    for (const { outline = "" } of cards.values()) length += outline.length;
    if (length <= maxLength) return;
    const isLarge = (entry: readonly [string, RememberedCard]) => (entry[1].outline?.length ?? 0) > maxLength;
    const entries = [...cards];
    const others = entries.filter((entry) => !isLarge(entry));
    for (const [key, { outline = "", ...card }] of [...entries.filter(isLarge), ...others]) {
      if (length <= maxLength) return;
      cards.set(key, card); // keeps its place
      length -= outline.length;
    }
  };
}
