import { thumbprintOf } from "../keys/key.ts";
import { type CardAlarm, finding } from "../verify/verdict.ts";
import type { RememberedCard } from "./card-memory.ts";
import type { TrustPolicy } from "./trust-policy.ts";

/** How the keys of a card stand to those by which its agent is known. */
export interface PinStanding {
  /** Whether none of the known keys has signed. */
  readonly isChanged: boolean;
  /** What is to be remembered of the keys when the card is trusted. */
  readonly keys: Pick<RememberedCard, "thumbprints" | "newKeys" | "missingKeys">;
  /** Which keys come and go. */
  readonly alarms: readonly CardAlarm[];
}

/** Who has signed a card, and by what that is judged. */
export interface PinQuestion {
  /** Thumbprints (RFC 7638) of the keys that verified it and count. */
  readonly thumbprints: readonly string[];
  readonly policy: TrustPolicy;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Whether it is the extended card of the agent. Default false. */
  readonly extended?: boolean | undefined;
}

const defaultNewKeyDelayMs = 24 * 60 * 60 * 1_000;

/**
 * Trust on first use, with rotation as `TrustPolicy.newKeyDelayMs` says it. A known key that was missed once stays known for a
 * while: otherwise taking its signature out of one card would make it a stranger. Keys that the policy names stay known.
 *
 * @param remembered the keys of the last trusted card
 */
export async function judgePins(
  { thumbprints, policy, now, extended }: PinQuestion,
  agent: string,
  remembered: RememberedCard | undefined,
): Promise<PinStanding> {
  const time = now();
  const signers = [...new Set(thumbprints)];
  if (remembered === undefined) return { isChanged: false, keys: { thumbprints: signers }, alarms: [] };
  const { newKeyDelayMs = defaultNewKeyDelayMs } = policy;
  const today = new Date(time).toISOString();
  // Keys get known by public cards: those that wait to be do not count for the extended one.
  const newSince = new Map(Object.entries((extended ? undefined : remembered.newKeys) ?? {}));
  const missingSince = new Map(Object.entries(remembered.missingKeys ?? {}));
  // Neither undefined nor what is no time is ever long enough.
  const isOver = (since: string | undefined) => time - Date.parse(since ?? "") >= newKeyDelayMs;
  const pinned = new Set(remembered.thumbprints);
  const known = new Set([...pinned, ...signers.filter((key) => isOver(newSince.get(key)))]);
  if (!signers.some((key) => known.has(key))) return { isChanged: true, keys: remembered, alarms: [] };
  const away = remembered.thumbprints.filter((key) => !signers.includes(key));
  const isNews = away.length > 0 || signers.some((key) => !pinned.has(key));
  const vouched = new Set(isNews ? await thumbprintsOf(policy) : []);
  const counts = (key: string) => known.has(key) || vouched.has(key) || newKeyDelayMs <= 0;
  const waiting = signers.filter((key) => !counts(key));
  const adopted = signers.filter((key) => counts(key) && !pinned.has(key) && !vouched.has(key));
  const sinceWhen = (key: string) => missingSince.get(key) ?? today;
  const missing = away.filter((key) => !isOver(sinceWhen(key)));
  const forgotten = away.filter((key) => isOver(sinceWhen(key)) && !vouched.has(key));
  const kept = away.filter((key) => !forgotten.includes(key));
  const waits = `A new key of ${agent} has signed beside a known key. If that lasts, it becomes known, too`;
  const comes = `A new key of ${agent} that signs beside a known key is known from now on`;
  const lacks = `A known key of ${agent} has not signed. If that lasts, it is forgotten`;
  const goes = `A known key of ${agent} has not signed for a while, and is forgotten`;
  return {
    isChanged: false,
    keys: {
      thumbprints: [...signers.filter(counts), ...kept],
      ...record("newKeys", waiting, (key) => newSince.get(key) ?? today),
      ...record("missingKeys", kept, sinceWhen),
    },
    alarms: [
      ...tellKeys("signer-new", waits, waiting),
      ...tellKeys("signer-new", comes, adopted),
      ...tellKeys("signer-missing", lacks, missing),
      ...tellKeys("signer-missing", goes, forgotten),
    ],
  };
}

function tellKeys(kind: CardAlarm["kind"], text: string, keys: readonly string[]): readonly CardAlarm[] {
  return keys.length === 0 ? [] : [{ kind, ...finding(`${text}: ${keys.join(", ")}.`, "signatures") }];
}

/** Of the keys that the policy names. One that signs nothing here has none. */
async function thumbprintsOf({ keys = [] }: TrustPolicy): Promise<readonly string[]> {
  const settled = await Promise.allSettled(keys.map(thumbprintOf));
  return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}

/** A member of what is remembered, where there is something to be remembered. */
function record(
  member: "newKeys" | "missingKeys",
  keys: readonly string[],
  since: (key: string) => string,
): Partial<RememberedCard> {
  return keys.length === 0 ? {} : { [member]: Object.fromEntries(keys.map((key) => [key, since(key)])) };
}
