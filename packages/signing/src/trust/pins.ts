import type { RememberedCard } from "./card-memory.ts";

/** How the keys of a card stand to those by which its agent is known. */
export interface PinVerdict {
  /** `new`: nothing was remembered. `changed`: none of the known keys has signed. */
  readonly kind: "new" | "known" | "changed";
  /** What is to be remembered of the keys when the card is trusted. */
  readonly keys: Pick<RememberedCard, "thumbprints" | "newKeys">;
  /** Keys that sign beside a known one and do not count by themselves yet. */
  readonly waiting: readonly string[];
}

/** Compares the keys that have signed a card with those of the last trusted one. */
export interface PinQuestion {
  readonly remembered: Pick<RememberedCard, "thumbprints" | "newKeys"> | undefined;
  /** Thumbprints of the keys that have signed. */
  readonly signers: readonly string[];
  /** Of these, those that are known as soon as they sign beside a known one. */
  readonly vouched: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** How long others must have signed beside a known key. */
  readonly newKeyDelayMs: number;
}

/**
 * Trust on first use, with rotation: the first keys are known from then on. A key that signs beside a known one gets known, at once
 * or after a while. A known key that signs no longer is forgotten, as soon as another known one has signed without it: nobody
 * who finds it later can use it.
 */
export function comparePins({ remembered, signers, vouched, now, newKeyDelayMs }: PinQuestion): PinVerdict {
  const unique = [...new Set(signers)];
  if (remembered === undefined) {
    return { kind: "new", keys: { thumbprints: unique }, waiting: [] };
  }
  const { thumbprints, newKeys = {} } = remembered;
  const since = new Map(Object.entries(newKeys));
  const sinceMs = (signer: string): number => Date.parse(since.get(signer) ?? "");
  // NaN, of a key that is seen for the first time, is never long enough.
  const known = new Set([
    ...thumbprints,
    ...unique.filter((signer) => now - sinceMs(signer) >= newKeyDelayMs),
  ]);
  if (!unique.some((signer) => known.has(signer))) {
    return { kind: "changed", keys: remembered, waiting: [] };
  }
  const counts = (signer: string) => known.has(signer) || vouched.has(signer) || newKeyDelayMs <= 0;
  const waiting = unique.filter((signer) => !counts(signer));
  const firstSeen = waiting.map((signer) => [signer, since.get(signer) ?? new Date(now).toISOString()]);
  return {
    kind: "known",
    keys: {
      thumbprints: unique.filter(counts),
      ...(waiting.length === 0 ? {} : { newKeys: Object.fromEntries(firstSeen) }),
    },
    waiting,
  };
}
