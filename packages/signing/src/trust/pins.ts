import type { RememberedCard } from "./card-memory.ts";

/** What is remembered of an agent's keys. */
export type RememberedKeys = Pick<RememberedCard, "thumbprints" | "newKeys" | "missingKeys">;

/** How the keys of a card stand to those by which its agent is known. */
export interface PinVerdict {
  /** `new`: nothing was remembered. `changed`: none of the known keys has signed. */
  readonly kind: "new" | "known" | "changed";
  /** What is to be remembered of the keys when the card is trusted. */
  readonly keys: RememberedKeys;
  /** Keys that sign beside a known one and do not count by themselves yet. */
  readonly waiting: readonly string[];
  /** Keys that count from now on because they have signed beside a known one, and not because the policy has them. */
  readonly adopted: readonly string[];
  /** Known keys that have not signed, and have not been missing for long. */
  readonly missing: readonly string[];
  /** Keys that were known, and have not signed for so long that they are not any more. */
  readonly forgotten: readonly string[];
}

/** Whose keys are compared. */
interface PinQuestion {
  /** Those of the last trusted card. */
  readonly remembered: RememberedKeys | undefined;
  /** Thumbprints of the keys that have signed. */
  readonly signers: readonly string[];
  /** Keys that are known as soon as they sign beside a known one, and stay known. */
  readonly vouched: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** How long others must have signed beside a known key, and how long a known one must have been missing. */
  readonly newKeyDelayMs: number;
}

/**
 * Trust on first use, with rotation: the first keys are known from then on.
 *
 * A key that signs beside a known one gets known: at once, or when it is seen at two times far enough apart, and on all cards in
 * between. A known key that signs no longer is forgotten when it is missed at two times that far apart: otherwise taking its
 * signature out of one card would make it a stranger.
 */
export function comparePins({ remembered, signers, vouched, now, newKeyDelayMs }: PinQuestion): PinVerdict {
  const unique = [...new Set(signers)];
  const nothing = { waiting: [], adopted: [], missing: [], forgotten: [] };
  if (remembered === undefined) {
    return { kind: "new", keys: { thumbprints: unique }, ...nothing };
  }
  const today = new Date(now).toISOString();
  const newSince = new Map(Object.entries(remembered.newKeys ?? {}));
  const missingSince = new Map(Object.entries(remembered.missingKeys ?? {}));
  // Neither undefined nor what is no time is ever long enough.
  const isOver = (since: string | undefined) => now - Date.parse(since ?? "") >= newKeyDelayMs;
  const pinned = new Set(remembered.thumbprints);
  const known = new Set([...pinned, ...unique.filter((key) => isOver(newSince.get(key)))]);
  if (!unique.some((key) => known.has(key))) {
    return { kind: "changed", keys: remembered, ...nothing };
  }
  const counts = (key: string) => known.has(key) || vouched.has(key) || newKeyDelayMs <= 0;
  const waiting = unique.filter((key) => !counts(key));
  const away = remembered.thumbprints.filter((key) => !unique.includes(key));
  const sinceWhen = (key: string) => missingSince.get(key) ?? today;
  const isForgotten = (key: string) => isOver(sinceWhen(key)) && !vouched.has(key);
  const kept = away.filter((key) => !isForgotten(key));
  return {
    kind: "known",
    keys: {
      thumbprints: [...unique.filter(counts), ...kept],
      ...record("newKeys", waiting, (key) => newSince.get(key) ?? today),
      ...record("missingKeys", kept, sinceWhen),
    },
    waiting,
    adopted: unique.filter((key) => counts(key) && !pinned.has(key) && !vouched.has(key)),
    missing: away.filter((key) => !isOver(sinceWhen(key))),
    forgotten: away.filter(isForgotten),
  };
}

/** A member of what is remembered, where there is something to be remembered. */
function record(
  member: "newKeys" | "missingKeys",
  keys: readonly string[],
  since: (key: string) => string,
): Pick<RememberedKeys, typeof member> {
  return keys.length === 0 ? {} : { [member]: Object.fromEntries(keys.map((key) => [key, since(key)])) };
}
