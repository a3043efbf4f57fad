import { advice } from "../verify/advice.ts";
import type { CardAlarm, CardFault } from "../verify/verdict.ts";
import { takeTurn } from "./agent-turns.ts";
import { findDowngrades, findExtendedDowngrades } from "./downgrade.ts";
import type { SecurityFinding } from "./finding.ts";
import { describeChange, describeNews, describeUnknown } from "./key-news.ts";
import { type KnownAgent, readCanonical, recall, remember, type TrustQuestion } from "./known-agent.ts";
import { cardMemoryKey } from "./memory-key.ts";
import { findMissingSecurity } from "./minimum-security.ts";
import { findMoves } from "./moves.ts";
import type { TrustPolicy } from "./trust-policy.ts";

/** Whether a card may be trusted, beyond its signatures. */
export interface TrustJudgement {
  /** Undefined when it may. */
  readonly fault: CardFault | undefined;
  /** What is wrong and what to do about it, in a sentence or more; undefined when nothing is. */
  readonly message: string | undefined;
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

function judge(question: TrustQuestion, known: KnownAgent | undefined): Judged {
  const { policy } = question;
  const isCompared = policy.minimumSecurity !== undefined || known?.before !== undefined;
  const card = (isCompared ? readCanonical(question.canonical) : undefined) ?? {};
  const compare = question.extended ? findExtendedDowngrades : findDowngrades;
  const found: Found = {
    news: known === undefined ? describeUnknown(policy.memory) : describeNews(known, question.extended),
    change: known?.pins.kind === "changed" ? [describeChange(known.key, question.thumbprints)] : [],
    missing: policy.minimumSecurity === undefined ? [] : findMissingSecurity(card, policy.minimumSecurity),
    weaker: known?.before === undefined ? [] : compare(known.before, card),
    moved: known?.before === undefined ? [] : findMoves(known.before, card),
    uncompared: known?.isUncompared && !question.extended ? [notKept] : [],
  };
  const faults = findFaults(found, policy);
  const judgement = {
    fault: faults[0]?.fault,
    message: faults.length === 0 ? undefined : tell(faults),
    alarms: [
      ...found.news,
      ...toAlarms("pin-changed", found.change),
      ...toAlarms("security-too-weak", found.missing),
      ...toAlarms("downgrade", found.weaker),
      ...toAlarms("downgrade", found.uncompared),
      ...toAlarms("moved", found.moved),
    ],
  };
  const doubts = [faults, found.change, found.weaker, found.uncompared];
  return { judgement, isDoubtful: doubts.some(({ length }) => length > 0) };
}

const notKept: SecurityFinding = {
  text: "The last card of this agent declared other things, and was not kept any more: it cannot be compared with this one.",
  path: "",
};

/** What was found about a card. */
interface Found {
  readonly news: readonly CardAlarm[];
  readonly change: readonly SecurityFinding[];
  readonly missing: readonly SecurityFinding[];
  readonly weaker: readonly SecurityFinding[];
  readonly moved: readonly SecurityFinding[];
  readonly uncompared: readonly SecurityFinding[];
}

interface Fault {
  readonly fault: CardFault;
  readonly message: string;
}

function tell(faults: readonly Fault[]): string {
  const what = faults.map(({ message }) => message);
  const doAbout = faults.slice(0, 1).map(({ fault }) => advice[fault]);
  return [...what, ...doAbout].join(" ");
}

/** What of it the policy does not let pass, the worst first. */
function findFaults(
  { change, missing, weaker, uncompared }: Found,
  { onPinChanged, onDowngrade }: TrustPolicy,
): readonly Fault[] {
  const candidates = [
    { fault: "pin-changed", findings: onPinChanged === "alarm" ? [] : change, opening: "" },
    {
      fault: "security-too-weak",
      findings: missing,
      opening: "The card declares less security than is demanded. ",
    },
    {
      fault: "downgrade",
      findings: onDowngrade === "alarm" ? [] : weaker,
      opening: "The card is weaker than the last one of this agent. ",
    },
    { fault: "downgrade", findings: onDowngrade === "alarm" ? [] : uncompared, opening: "" },
  ] as const;
  return candidates
    .filter(({ findings }) => findings.length > 0)
    .map(({ fault, findings, opening }) => ({ fault, message: opening + summarize(findings) }));
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
