import { isSame, parseHttpUrl, sha256, trimSlashes } from "@a2a-connect/core/internal";
import { base64url } from "jose";

/** What is remembered of an agent. */
export interface RememberedCard {
  /** Thumbprints (RFC 7638) of the keys that have signed its cards, and by which it is known. */
  readonly thumbprints: readonly string[];
  /** Other keys that sign beside these, by their thumbprints, and since when; ISO 8601 (`TrustPolicy.newKeyDelayMs`). */
  readonly newKeys?: Readonly<Record<string, string>>;
  /** Those of `thumbprints` that have not signed the last card, and since when; ISO 8601. */
  readonly missingKeys?: Readonly<Record<string, string>>;
  /**
   * What later cards are compared with, as JSON text of one form: name, version, interfaces, schemes and requirements of its last
   * trusted card, and of each skill its id and requirements. A memory may leave it out, as do we above 65,536 UTF-16 units: other
   * cards of the agent are refused then, because they cannot be compared.
   */
  readonly outline?: string;
  /** SHA-256 of the outline, base64url: whether the next card declares the same can be told without it. */
  readonly digest: string;
  /** When it was first and last seen, ISO 8601. Another time within a day of the last one is not written down. */
  readonly firstSeen: string;
  readonly lastSeen: string;
}

/**
 * Remembers cards by agent (`cardMemoryKey`). May be shared. Cards of one agent that are verified at the same time, with the same
 * object, are judged one after the other; what other processes do meanwhile, `write` has to notice.
 */
export interface CardMemory {
  read(key: string): Promise<RememberedCard | undefined>;
  /**
   * Writes what replaces `expected`, in one step. A memory that takes no notice of `expected` lets the last one win of two that
   * write at the same time.
   *
   * @param expected what `read` gave, null where that was nothing; without it any record is replaced
   * @returns false when nothing was written because something else was there: the card is then judged again
   */
  write(key: string, remembered: RememberedCard, expected?: RememberedCard | null): Promise<boolean>;
  /** Forgets it: the next card is the first again. */
  forget(key: string): Promise<void>;
}

/**
 * By what an agent is remembered: the URL of its card without what follows the agent's own path, such as
 * `https://agents.example.org/agents/clerk`. So all places where clients look for the card of one agent have the same key. Of a
 * query, which may hold secrets, it has the SHA-256: `https://agents.example.org/card?sha256-…`.
 *
 * @returns undefined for what is not an http or https URL
 */
export async function cardMemoryKey(url: string | URL): Promise<string | undefined> {
  const parsed = parseHttpUrl(String(url)); // "blob:" has an origin, too, and any script of that origin makes such URLs
  if (parsed === undefined) {
    return undefined;
  }
  const path = trimSlashes(parsed.pathname.replace(/\/\.well-known\/agent(?:-card)?\.json$/, ""));
  const query = parsed.search === "" ? "" : `?sha256-${await digestOf(parsed.search)}`;
  return parsed.origin + path + query;
}

/** SHA-256 of the UTF-8 of a text, base64url. */
export async function digestOf(text: string): Promise<string> {
  return base64url.encode(await sha256(text));
}

/** What cards declare that are remembered (`RememberedCard.outline`), all together, in UTF-16 units. */
const maxLength = 64 * 1024 * 1024;

/**
 * Remembers cards until the process ends: those of 10,000 agents, and what they declare up to 67,108,864 UTF-16 units. Beyond that,
 * those go first that were not met for the longest time.
 */
export function createCardMemory(): CardMemory {
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
      trimCards(cards, maxLength);
      return true;
    },
    forget: async (key) => void cards.delete(key),
  };
}

/** Agents that are remembered. */
const maxCards = 10_000;

/**
 * Takes out of cards what is too much: first the agents that come first, then what cards declare, since how much that is their
 * authors choose. What is too large alone goes first, so that others keep theirs. Keys stay.
 *
 * @param most of what cards declare, all together, in UTF-16 units
 */
export function trimCards(cards: Map<string, RememberedCard>, most: number): void {
  for (const key of cards.keys()) {
    if (cards.size <= maxCards) break;
    cards.delete(key);
  }
  let length = 0;
  for (const { outline = "" } of cards.values()) length += outline.length;
  if (length <= most) return;
  const isLarge = (entry: readonly [string, RememberedCard]) => (entry[1].outline?.length ?? 0) > most;
  const entries = [...cards];
  const others = entries.filter((entry) => !isLarge(entry));
  for (const [key, { outline = "", ...card }] of [...entries.filter(isLarge), ...others]) {
    if (length <= most) return;
    cards.set(key, card); // keeps its place
    length -= outline.length;
  }
}
