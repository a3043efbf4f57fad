import type { CardAlarm } from "../verify/verdict.ts";
import type { CardMemory, RememberedCard } from "./card-memory.ts";
import type { SecurityFinding } from "./finding.ts";
import type { PinVerdict } from "./pins.ts";

/** What the news are about. */
export interface KeyNews {
  /** By which the agent is remembered. */
  readonly key: string;
  readonly pins: PinVerdict;
  /** Whether its last card was not kept, and declared other things. */
  readonly isUncompared: boolean;
  /** What is to be remembered of its card. */
  readonly outline: Pick<RememberedCard, "outline">;
}

/** What a person should know of how the agent is known, though there may be nothing wrong with it. */
export function describeNews(news: KeyNews, extended = false): readonly CardAlarm[] {
  const { key, pins } = news;
  if (!extended) {
    return [...describeFirst(news), ...describeKeys(news), ...describeSize(news)];
  }
  const unknown = `Nothing is known of ${key} by which its extended card could be recognized.`;
  const uncompared = `What the public card of ${key} declares was too large to be compared with its extended card.`;
  return [
    ...(pins.kind === "new" ? [{ kind: "first-use", text: unknown, paths: [] } as const] : []),
    ...(news.isUncompared ? [{ kind: "not-remembered", text: uncompared, paths: [] } as const] : []),
  ];
}

/** That a memory could do nothing for a card, since nobody knows whose it is. */
export function describeUnknown(memory: CardMemory | undefined): readonly CardAlarm[] {
  const text =
    "The card did not come from an http or https URL: it was not compared with anything, and is not remembered.";
  return memory === undefined ? [] : [{ kind: "not-remembered", text, paths: [] }];
}

/** That none of the known keys has signed. */
export function describeChange(key: string, signers: readonly string[]): SecurityFinding {
  const text = `None of the keys by which ${key} is known has signed the card, but ${signers.join(", ")}.`;
  return { text, path: "signatures" };
}

function describeFirst({ key, pins }: KeyNews): readonly CardAlarm[] {
  const text = `This is the first card of ${key} that is seen. Its keys are trusted from now on.`;
  return pins.kind === "new" ? [{ kind: "first-use", text, paths: [] }] : [];
}

function describeKeys({ key, pins }: KeyNews): readonly CardAlarm[] {
  const tell = (kind: CardAlarm["kind"], keys: readonly string[], text: string, end = "") =>
    keys.length === 0 ? [] : [{ kind, text: `${text}: ${keys.join(", ")}.${end}`, paths: ["signatures"] }];
  const { waiting, adopted, missing, forgotten } = pins;
  const waits = `Another key signs the card of ${key} beside a known one, and will be known when it has done so for long enough`;
  const counts = `Another key is known for ${key} from now on, having signed beside a known one`;
  const misses = `A key by which ${key} is known has not signed the card`;
  const missed = `A key by which ${key} was known has not signed its card for a while, and is forgotten`;
  return [
    ...tell("signer-new", waiting, waits),
    ...tell("signer-new", adopted, counts),
    ...tell("signer-missing", missing, misses, " When that lasts it is forgotten."),
    ...tell("signer-missing", forgotten, missed),
  ];
}

function describeSize({ key, outline }: KeyNews): readonly CardAlarm[] {
  const text = `What the card of ${key} declares is too large to be remembered: when it changes, nobody can tell whether it got weaker, and it is refused.`;
  return outline.outline === undefined ? [{ kind: "not-remembered", text, paths: [] }] : [];
}
