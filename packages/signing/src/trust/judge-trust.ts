import { advice } from "../verify/sentences.ts";
import type { CardAlarm, CardFault } from "../verify/verdict.ts";
import { takeTurn } from "./agent-turns.ts";
import { findDowngrades, findExtendedDowngrades } from "./downgrade.ts";
import type { SecurityFinding } from "./finding.ts";
import { describeChange, describeNews, describeUnknown } from "./key-news.ts";
import { type KnownAgent, readCanonical, recall, remember, type TrustQuestion } from "./known-agent.ts";
import { cardMemoryKey } from "./memory-key.ts";
import { findMissingSecurity } from "./minimum-security.ts";
import { findMoves } from "./moves.ts";

/** Whether a card may be trusted, beyond its signatures. */
export interface TrustJudgement {
  /** Undefined when it may. */
  readonly fault: CardFault | undefined;
  /** What is wrong and what to do about it, in a sentence or more; empty when nothing is. */
  readonly message: string;
  /** Everything that was found, whether it is a fault or not. */
  readonly alarms: readonly CardAlarm[];
}

/** How often a card is judged when something else is remembered each time that it is. */
const maxTries = 5;

/** Most findings of a kind that become alarms, and most that stand in the message. */
const maxAlarms = 50;
const maxInMessage = 3;

/**
 * Judges a card by what is remembered of its agent, and by what must be declared: its keys first, then the minimum of security,
 * then whether it is weaker than the last trusted one. Then remembers the card and its keys, but nothing of one that there is a
 * fault with, of an extended card, and of one that was let pass though none of its keys is known or it is weaker
 * (`onPinChanged`, `onDowngrade`): that alarm comes back until somebody has the memory forget what it knew.
 *
 * Cards of one agent are judged and remembered one after the other; when another process has written meanwhile, the card is
 * judged again.
 *
 * @throws what the memory throws, and what `signal` was aborted with; Error when what it gives is damaged, or is another each
 *   time, or when it does not answer within 15 s. Whoever cannot remember does not trust.
 */
export async function judgeTrust(question: TrustQuestion): Promise<TrustJudgement> {
  const { memory } = question.policy;
  const key = question.url === undefined ? undefined : await cardMemoryKey(question.url);
  if (memory === undefined || key === undefined) {
    return judge(question, undefined).judgement;
  }
  const compare = async (turn: AbortSignal): Promise<TrustJudgement> => {
    for (let tries = 0; tries < maxTries; tries++) {
      const known = await recall(question, memory, key);
      turn.throwIfAborted();
      const { judgement, isDoubtful } = judge(question, known);
      if (isDoubtful || question.extended || (await remember(question, known))) {
        return judgement;
      }
    }
    throw new Error(`what is remembered of ${key} changes faster than a card can be compared with it`);
  };
  return await takeTurn(memory, key, compare, { signal: question.signal });
}

interface Judged {
  readonly judgement: TrustJudgement;
  /** Whether there is something about the card for which it is not to be remembered. */
  readonly isDoubtful: boolean;
}

/** What was found about a card, as an alarm and maybe as a fault. */
interface Found {
  readonly fault: "pin-changed" | "security-too-weak" | "downgrade";
  readonly findings: readonly SecurityFinding[];
  /** How the message begins that tells of it. */
  readonly opening: string;
  /** Whether the policy lets it pass. */
  readonly isAllowed: boolean;
}

function judge(question: TrustQuestion, known: KnownAgent | undefined): Judged {
  const { policy, thumbprints, extended } = question;
  const { memory, minimumSecurity, onPinChanged, onDowngrade } = policy;
  const before = known?.before;
  const isRead = minimumSecurity !== undefined || before !== undefined;
  const card = (isRead ? readCanonical(question.canonical) : undefined) ?? {};
  const compare = extended ? findExtendedDowngrades : findDowngrades;
  // The worst first.
  const all: readonly Found[] = [
    {
      fault: "pin-changed",
      findings: known?.pins.kind === "changed" ? [describeChange(known.key, thumbprints)] : [],
      opening: "",
      isAllowed: onPinChanged === "alarm",
    },
    {
      fault: "security-too-weak",
      findings: minimumSecurity === undefined ? [] : findMissingSecurity(card, minimumSecurity),
      opening: "The card declares less security than is demanded. ",
      isAllowed: false,
    },
    {
      fault: "downgrade",
      findings: before === undefined ? [] : compare(before, card),
      opening: "The card is weaker than the last one of this agent. ",
      isAllowed: onDowngrade === "alarm",
    },
    {
      fault: "downgrade",
      findings: known?.isUncompared && !extended ? [notKept] : [],
      opening: "",
      isAllowed: onDowngrade === "alarm",
    },
  ];
  const found = all.filter(({ findings }) => findings.length > 0);
  const faults = found.filter(({ isAllowed }) => !isAllowed);
  const news = known === undefined ? describeUnknown(memory) : describeNews(known, extended);
  const moved = before === undefined ? [] : findMoves(before, card);
  const judgement: TrustJudgement = {
    fault: faults[0]?.fault,
    message: describeFaults(faults),
    alarms: [
      ...news,
      ...found.flatMap(({ fault, findings }) => toAlarms(fault, findings)),
      ...toAlarms("moved", moved),
    ],
  };
  return { judgement, isDoubtful: found.length > 0 };
}

const notKept: SecurityFinding = {
  text: "The last card of this agent declared other things, and was not kept any more: it cannot be compared with this one.",
  path: "",
};

function describeFaults(faults: readonly Found[]): string {
  const sentences = faults.map(({ opening, findings }) => opening + summarize(findings));
  const hints = faults.slice(0, 1).map(({ fault }) => advice[fault]);
  return [...sentences, ...hints].join(" ");
}

function toAlarms(kind: CardAlarm["kind"], findings: readonly SecurityFinding[]): CardAlarm[] {
  const alarms = findings.slice(0, maxAlarms).map(({ text, path }) => ({
    kind,
    text,
    paths: path === "" ? [] : [path],
  }));
  const rest = findings.length - maxAlarms;
  return rest > 0 ? [...alarms, { kind, text: `There are ${rest} more such findings.`, paths: [] }] : alarms;
}

function summarize(findings: readonly SecurityFinding[]): string {
  const shown = findings.slice(0, maxInMessage).map(({ text }) => text);
  const rest = findings.length - shown.length;
  return [...shown, ...(rest > 0 ? [`There ${rest === 1 ? "is" : "are"} ${rest} more.`] : [])].join(" ");
}
