import { isSame, parseHttpUrl, sha256, trimSlashes } from "@a2a-connect/core/internal";
import { base64url } from "jose";
import { checkMembers } from "../option-members.ts";

/** What is remembered of an agent. */
export interface RememberedCard {
  /** Thumbprints (RFC 7638) of the keys that have signed its cards, and by which it is known. */
  readonly thumbprints: readonly string[];
  /**
   * Other keys that sign beside these, and since when, by their thumbprints; ISO 8601. They count by themselves when they have
   * done so for long enough (`TrustPolicy.newKeyDelayMs`). Default none.
   */
  readonly newKeys?: Readonly<Record<string, string>>;
  /**
   * Those of `thumbprints` that have not signed the last card, and since when they are missed; ISO 8601. They count no longer when
   * that has lasted for as long as a new key has to wait. Default none.
   */
  readonly missingKeys?: Readonly<Record<string, string>>;
  /**
   * What later cards are compared with, as JSON text of one form: name, version, interfaces, security schemes and requirements of
   * its last trusted card, and of each skill its id and requirements. Absent when that was too large to be kept, for us (65,536
   * UTF-16 units) or for the memory, which may leave it out at any time: other cards of the agent are refused then, because they
   * cannot be compared.
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
   * Writes what replaces `expected`, in one step: nothing when something else, or nothing, is remembered by now. The card is then
   * judged again. A memory that cannot tell takes no notice of `expected`: of two that write at the same time the last one wins.
   *
   * @param expected what `read` gave, null where that was nothing; without it any record is replaced
   * @returns false when nothing was written because something else was there
   */
  write(key: string, remembered: RememberedCard, expected?: RememberedCard | null): Promise<boolean>;
  /** Forgets it: the next card is the first again. */
  forget(key: string): Promise<void>;
}

/** How much is remembered. */
export interface CardMemoryLimits {
  /** Agents. Beyond that the agent that was not met for the longest time is forgotten: the next time is the first. Default 10,000. */
  readonly maxCards?: number;
  /**
   * What their cards declare (`RememberedCard.outline`), all together, in UTF-16 units. Beyond that it is left out of those that were
   * not met for the longest time; their keys stay known. Default 67,108,864; in a file, which
   * is read as a whole each time, 8,388,608.
   */
  readonly maxLength?: number;
}

/**
 * By what an agent is remembered: the origin of its card's URL, such as `https://agents.example.org`, and the path below which it
 * lives when it is one of several there: `https://agents.example.org/agents/clerk`. All places where clients look for the card
 * of one agent (`…/.well-known/agent-card.json`, `…/.well-known/agent.json`, the path itself) have the same key, so that an agent
 * that moves from one to the other is not met for the first time.
 *
 * A query tells agents apart, too. Since it may hold secrets, and what is remembered is written down, its SHA-256 stands for it:
 * `https://agents.example.org/card?sha256-…`. Fragments are no part of it.
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

/**
 * Remembers cards until the process ends.
 *
 * @throws TypeError when a limit is not a number above 0
 */
export function createCardMemory(limits: CardMemoryLimits = {}): CardMemory {
  checkMembers("the limits of a card memory", limits, "maxCards maxLength");
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

/**
 * Takes out of cards what is beyond the limits: first the agents that come first, then what cards declare. Keys are small, but how
 * much a card declares its author chooses.
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
    for (const [key, { outline = "", ...card }] of cards) {
      if (length <= maxLength) return;
      cards.set(key, card); // keeps its place
      length -= outline.length;
    }
  };
}
