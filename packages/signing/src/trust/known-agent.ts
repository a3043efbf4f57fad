import { isObject, isSame } from "@a2a-connect/core/internal";
import { readStrictJson } from "../canonical/json.ts";
import type { SignedCard } from "../signed-card.ts";
import { cardTurn } from "../verify/card-turns.ts";
import { type CardMemory, digestOf, type RememberedCard } from "./card-memory.ts";
import { formatOutline, maxOutlineLength, type Outline, readOutline } from "./outline.ts";
import { judgePins, type PinQuestion, type PinStanding } from "./pins.ts";

/** How old what is known of when an agent was last seen may become. */
const maxLastSeenMs = 24 * 60 * 60 * 1_000;

/** A card whose signatures are right. */
export interface TrustQuestion extends PinQuestion {
  readonly card: Pick<SignedCard, "declared" | "outline">;
  /** By whose address it is remembered: the URL that was asked for. Without it nothing is remembered. */
  readonly url: string | URL | undefined;
  /** Stops waiting for the memory, for others who ask it about the agent, and for a turn. */
  readonly signal?: AbortSignal | undefined;
}

/** What is known of the agent that a card is of. */
export interface KnownAgent {
  readonly memory: CardMemory;
  readonly key: string;
  readonly remembered: RememberedCard | undefined;
  /** What its last trusted card declared; undefined when there is none, or the card declares the same. */
  readonly before: Outline | undefined;
  /** Whether it declared something else that was not kept. */
  readonly isUncompared: boolean;
  /** What is kept of what the card declares. */
  readonly outline: Pick<RememberedCard, "outline" | "digest">;
  readonly pins: PinStanding;
}

/** @throws what the memory throws, and what the signal was aborted with; Error when what the memory gives is damaged */
export async function recall(question: TrustQuestion, memory: CardMemory, key: string): Promise<KnownAgent> {
  const remembered = await memory.read(key);
  await cardTurn(question.url, question.signal);
  const outline = formatOutline(question.card.declared);
  const digest = await digestOf(outline);
  const pins = await judgePins(question, key, remembered);
  await cardTurn(question.url, question.signal);
  const before = remembered?.outline === undefined ? undefined : readRemembered(remembered.outline, key);
  const isOther = remembered !== undefined && remembered.digest !== digest;
  return {
    memory,
    key,
    remembered,
    before: isOther ? before : undefined,
    isUncompared: isOther && before === undefined,
    outline: outline.length > maxOutlineLength ? { digest } : { outline, digest },
    pins,
  };
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
  if (isRecent && isSame({ ...news, lastSeen: "" }, { ...remembered, lastSeen: "" })) return true;
  // Strictly: memories of others that give nothing back have written.
  return (await memory.write(key, news, remembered ?? null)) !== false;
}

/** @throws Error when it is damaged */
function readRemembered(outline: string, key: string): Outline {
  const { json } = readStrictJson(outline);
  if (isObject(json)) return readOutline(json);
  throw new Error(`what is remembered of ${key} is damaged: its card is not a JSON object`);
}
