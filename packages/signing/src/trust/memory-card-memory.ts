import type { CardMemory, RememberedCard } from "./card-memory.ts";

/** How much is remembered. Beyond that whoever was not met for the longest time is forgotten: the next time is the first. */
export interface CardMemoryLimits {
  /** Agents. Default 10,000. */
  readonly maxCards?: number;
  /** All their cards together, in UTF-16 units. Default 67,108,864. */
  readonly maxLength?: number;
}

/**
 * Remembers cards until the process ends.
 *
 * @throws TypeError when a limit is not a number above 0
 */
export function createCardMemory(limits: CardMemoryLimits = {}): CardMemory {
  const { maxCards = 10_000, maxLength = 64 * 1024 * 1024 } = limits;
  if (!(maxCards > 0 && maxLength > 0)) {
    throw new TypeError("the limits of a card memory are numbers above 0");
  }
  const cards = new Map<string, RememberedCard>(); // whoever was met last is last
  let length = 0;
  const forget = (key: string): RememberedCard | undefined => {
    const card = cards.get(key);
    cards.delete(key);
    length -= card?.canonical.length ?? 0;
    return card;
  };
  const remember = (key: string, card: RememberedCard): void => {
    cards.set(key, card);
    length += card.canonical.length;
  };
  return {
    read: async (key) => {
      const card = forget(key);
      if (card !== undefined) remember(key, card);
      return card;
    },
    write: async (key, card) => {
      forget(key);
      remember(key, card);
      for (const oldest of cards.keys()) {
        if (oldest === key || (cards.size <= maxCards && length <= maxLength)) break;
        forget(oldest);
      }
    },
    forget: async (key) => void forget(key),
  };
}
