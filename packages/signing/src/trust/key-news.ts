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
  const { key, pins, isUncompared, outline } = news;
  const isNew = pins.kind === "new";
  if (extended) {
    return [
      ...alarm(
        "first-use",
        isNew,
        `Nothing is known of ${key} by which its extended card could be recognized.`,
      ),
      ...alarm(
        "not-remembered",
        isUncompared,
        `What the public card of ${key} declares was too large to be compared with its extended card.`,
      ),
    ];
  }
  const { waiting, adopted, missing, forgotten } = pins;
  return [
    ...alarm(
      "first-use",
      isNew,
      `This is the first card of ${key} that is seen. Its keys are trusted from now on.`,
    ),
    ...alarm(
      "signer-new",
      waiting,
      `Another key signs the card of ${key} beside a known one, and will be known when it has done so for long enough:`,
    ),
    ...alarm(
      "signer-new",
      adopted,
      `Another key is known for ${key} from now on, having signed beside a known one:`,
    ),
    ...alarm(
      "signer-missing",
      missing,
      `A key by which ${key} is known has not signed the card, and is forgotten when that lasts:`,
    ),
    ...alarm(
      "signer-missing",
      forgotten,
      `A key by which ${key} was known has not signed its card for a while, and is forgotten:`,
    ),
    ...alarm(
      "not-remembered",
      outline.outline === undefined,
      `What the card of ${key} declares is too large to be remembered: when it changes, nobody can tell whether it got weaker, and it is refused.`,
    ),
  ];
}

/** @param about whether there is something to tell, or the keys that it is about, which end the sentence */
function alarm(
  kind: CardAlarm["kind"],
  about: boolean | readonly string[],
  text: string,
): readonly CardAlarm[] {
  if (typeof about === "boolean") return about ? [{ kind, text, paths: [] }] : [];
  return about.length === 0 ? [] : [{ kind, text: `${text} ${about.join(", ")}.`, paths: ["signatures"] }];
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
