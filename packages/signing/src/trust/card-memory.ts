/** What is remembered of an origin. */
export interface RememberedCard {
  /** Thumbprints (RFC 7638) of the keys that have signed its card, and by which it is known. */
  readonly thumbprints: readonly string[];
  /**
   * Other keys that sign beside these, and since when, by their thumbprints; ISO 8601. They count by themselves when they have
   * done so for long enough (`TrustPolicy.newKeyDelayMs`). Default none.
   */
  readonly newKeys?: Readonly<Record<string, string>>;
  /** Its last trusted card: canonical text, without signatures. */
  readonly canonical: string;
  /** When it was first and last seen, ISO 8601. */
  readonly firstSeen: string;
  readonly lastSeen: string;
}

/**
 * Remembers cards by origin, such as `https://agents.example.org`, or another key that tells agents apart. May be shared; the
 * last one who writes wins.
 */
export interface CardMemory {
  read(key: string): Promise<RememberedCard | undefined>;
  write(key: string, remembered: RememberedCard): Promise<void>;
  /** Forgets it: the next card is the first again. */
  forget(key: string): Promise<void>;
}
