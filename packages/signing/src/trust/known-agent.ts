import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../canonical/json-members.ts";
import { writeCanonical } from "../canonical/write-canonical.ts";
import { thumbprintOf } from "../keys/key.ts";
import type { VerificationContext } from "../verify/verify-options.ts";
import type { CardMemory, RememberedCard } from "./card-memory.ts";
import { digestOf } from "./memory-key.ts";
import { formatOutline, maxOutlineLength } from "./outline.ts";
import { comparePins, type PinVerdict } from "./pins.ts";
import type { TrustPolicy } from "./trust-policy.ts";

/** Time in which a signature that somebody added, or took out, is noticed. */
const defaultNewKeyDelayMs = 24 * 60 * 60 * 1_000;

/** How old what is known of when an agent was last seen may become. */
const maxLastSeenMs = 24 * 60 * 60 * 1_000;

/** A card whose signatures are right. */
export interface TrustQuestion extends Pick<VerificationContext, "extended" | "signal"> {
  /** Its canonical text, without signatures. What is judged is what this says, and not what it came as. */
  readonly canonical: string;
  /** By whose address it is remembered: the URL that was asked for. Without it nothing is remembered. */
  readonly url: string | URL | undefined;
  /** Thumbprints (RFC 7638) of the keys that verified it and count. */
  readonly thumbprints: readonly string[];
  readonly policy: TrustPolicy;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What is known of the agent that a card is of. */
export interface KnownAgent {
  readonly memory: CardMemory;
  readonly key: string;
  readonly remembered: RememberedCard | undefined;
  /** What its last trusted card declared; undefined when there is none, or the card declares the same. */
  readonly before: JsonObject | undefined;
  /** Whether it declared something else, which was not kept. */
  readonly isUncompared: boolean;
  /** What is kept of what the card declares. */
  readonly outline: Pick<RememberedCard, "outline" | "digest">;
  readonly pins: PinVerdict;
}

/** @throws what the memory throws; Error when what it gives is damaged */
export async function recall(question: TrustQuestion, memory: CardMemory, key: string): Promise<KnownAgent> {
  const remembered = await memory.read(key);
  const outline = formatOutline(readCanonical(question.canonical) ?? {});
  const digest = await digestOf(outline);
  const declared = remembered?.outline === undefined ? undefined : readCanonical(remembered.outline);
  if (remembered?.outline !== undefined && declared === undefined) {
    throw new Error(`what is remembered of ${key} is damaged: its card is no JSON object`);
  }
  const isOther = remembered !== undefined && remembered.digest !== digest;
  return {
    memory,
    key,
    remembered,
    before: isOther ? declared : undefined,
    isUncompared: isOther && declared === undefined,
    outline: outline.length > maxOutlineLength ? { digest } : { outline, digest },
    pins: await judgePins(question, remembered),
  };
}

async function judgePins(
  { thumbprints: signers, policy, now, extended }: TrustQuestion,
  remembered: RememberedCard | undefined,
): Promise<PinVerdict> {
  const { thumbprints = [] } = remembered ?? {};
  const isNews =
    signers.some((key) => !thumbprints.includes(key)) || thumbprints.some((key) => !signers.includes(key));
  const vouched = remembered !== undefined && isNews ? await thumbprintsOf(policy) : [];
  const { newKeyDelayMs = defaultNewKeyDelayMs } = policy;
  // Keys get known by public cards: those that wait to be do not count for the extended one.
  const known = extended && remembered !== undefined ? { ...remembered, newKeys: {} } : remembered;
  return comparePins({ remembered: known, signers, vouched: new Set(vouched), now: now(), newKeyDelayMs });
}

/** Of the keys that the policy names. One that signs nothing here has none. */
async function thumbprintsOf({ keys = [] }: TrustPolicy): Promise<readonly string[]> {
  const settled = await Promise.allSettled(keys.map(thumbprintOf));
  return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}

/**
 * Writes the card down, unless it says what is remembered already.
 *
 * @returns false when something else is remembered by now than what the card was judged by
 * @throws what the memory throws
 */
export async function remember({ now }: TrustQuestion, known: KnownAgent): Promise<boolean> {
  const { memory, key, remembered, pins, outline } = known;
  const seen = now();
  const lastSeen = new Date(seen).toISOString();
  const news = { ...pins.keys, ...outline, firstSeen: remembered?.firstSeen ?? lastSeen, lastSeen };
  const isRecent = seen - Date.parse(remembered?.lastSeen ?? "") < maxLastSeenMs;
  if (remembered !== undefined && isRecent && isSame(news, remembered)) {
    return true;
  }
  // Strictly: memories of others that give nothing back have written.
  return (await memory.write(key, news, remembered ?? null)) !== false;
}

/** But for when the agent was last seen. An outline that the memory has left out is written back: there may be room for it now. */
function isSame(news: RememberedCard, remembered: RememberedCard): boolean {
  const identify = ({ thumbprints, newKeys = {}, missingKeys = {}, digest, firstSeen }: RememberedCard) =>
    writeCanonical([thumbprints.toSorted(), newKeys, missingKeys, digest, firstSeen]);
  const isLeftOut = news.outline !== undefined && remembered.outline === undefined;
  return !isLeftOut && identify(news) === identify(remembered);
}

/** A JSON text of one form; undefined when it is no object. */
export function readCanonical(canonical: string): JsonObject | undefined {
  try {
    const json: JsonValue = JSON.parse(canonical);
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}
