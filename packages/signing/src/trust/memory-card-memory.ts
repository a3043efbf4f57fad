import { checkMembers } from "../option-members.ts";
import type { CardMemory, CardMemoryLimits, RememberedCard } from "./card-memory.ts";

/**
 * Remembers cards until the process ends.
 *
 * @throws TypeError when a limit is not a number above 0
 */
export function createCardMemory(limits: CardMemoryLimits = {}): CardMemory {
  checkMembers("the limits of a card memory", limits);
  const { maxCards = 10_000, maxLength = 64 * 1024 * 1024 } = limits;
  if (!(maxCards > 0 && maxLength > 0)) {
    throw new TypeError("the limits of a card memory are numbers above 0");
  }
  // In both, whoever was met last is last.
  const cards = new Map<string, RememberedCard>();
  const outlines = new Set<string>();
  let length = 0;
  const forget = (key: string): RememberedCard | undefined => {
    const card = cards.get(key);
    cards.delete(key);
    outlines.delete(key);
    length -= card?.outline?.length ?? 0;
    return card;
  };
  const remember = (key: string, card: RememberedCard): void => {
    cards.set(key, card);
    if (card.outline !== undefined) outlines.add(key);
    length += card.outline?.length ?? 0;
  };
  const leaveOut = (key: string): void => {
    const card = cards.get(key);
    if (card === undefined) return;
    cards.set(key, withoutOutline(card)); // keeps its place
    outlines.delete(key);
    length -= card.outline?.length ?? 0;
  };
  return {
    read: async (key) => {
      const card = forget(key);
      if (card !== undefined) remember(key, card);
      return card;
    },
    write: async (key, card, expected) => {
      if (expected !== undefined && !isSame(cards.get(key), expected ?? undefined)) return false;
      forget(key);
      remember(key, card);
      if ((card.outline?.length ?? 0) > maxLength) leaveOut(key); // at nobody else's cost
      for (const oldest of outlines) {
        if (length <= maxLength) break;
        leaveOut(oldest);
      }
      for (const oldest of cards.keys()) {
        if (oldest === key || cards.size <= maxCards) break;
        forget(oldest);
      }
      return true;
    },
    forget: async (key) => void forget(key),
  };
}

function withoutOutline({ outline: _, ...card }: RememberedCard): RememberedCard {
  return card;
}

/** What was read is the very object that is kept, or a copy of it. */
function isSame(one: RememberedCard | undefined, other: RememberedCard | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
