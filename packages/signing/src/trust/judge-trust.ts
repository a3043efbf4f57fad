import { adviceOn } from "../verify/faults.ts";
import { type CardAlarm, type CardVerdict, type Finding, finding } from "../verify/verdict.ts";
import { takeTurn } from "./agent-turns.ts";
import { type CardMemory, cardMemoryKey } from "./card-memory.ts";
import { findDowngrades, findMoves } from "./compare-cards.ts";
import { type KnownAgent, recall, remember, type TrustQuestion } from "./known-agent.ts";
import { findMissingSecurity } from "./minimum-security.ts";

/** Whether a card may be trusted, beyond its signatures. The message says what is wrong, and what to do; it is empty when nothing is. */
export type TrustJudgement = Pick<CardVerdict, "reason" | "message" | "alarms">;

/** How often a card is judged when something else is remembered each time that it is. */
const maxTries = 5;

/** Most findings of a kind that become alarms, and most that stand in the message. */
const maxAlarms = 50;
const maxInMessage = 3;

/**
 * Judges a card by what is remembered of its agent, and by what must be declared: its keys first, then the minimum of security,
 * then whether it is weaker than the last trusted one. Then remembers the card and its keys, but nothing of one that there is a
 * fault with, of an extended card, and of one that was let pass though it is weaker (`onDowngrade`): that alarm comes back until
 * the memory is told to forget what it knew.
 *
 * Cards of one agent are judged and remembered one after the other; when another process has written meanwhile, the card is
 * judged again.
 *
 * @throws what the memory throws, and what `signal` was aborted with; Error when what it gives is damaged, or is another each
 *   time, or when it does not answer within 15 s: without its memory, no card is trusted
 */
export async function judgeTrust(question: TrustQuestion): Promise<TrustJudgement> {
  const { memory } = question.policy;
  if (memory === undefined) return judge(question, undefined).judgement;
  const key = question.url === undefined ? undefined : await cardMemoryKey(question.url);
  if (key === undefined) return judge(question, undefined).judgement;
  const compare = async (turn: AbortSignal): Promise<TrustJudgement> => {
    for (let tries = 0; tries < maxTries; tries++) {
      const known = await recall(question, memory, key);
      turn.throwIfAborted();
      const { judgement, isDoubtful } = judge(question, known);
      if (isDoubtful || question.extended || (await remember(question, known))) return judgement;
    }
    throw new Error(`what is remembered of ${key} changes faster than a card can be compared with it`);
  };
  return await takeTurn(memory, key, compare, question.signal);
}

function judge(question: TrustQuestion, known: KnownAgent | undefined) {
  const { policy, extended = false, card } = question;
  const before = known?.before;
  const doubts = findDoubts(question, known).filter(({ findings }) => findings.length > 0);
  const faults = doubts.filter(({ choice }) => choice !== "alarm");
  const sentences = faults.map(({ opening, findings }) => opening + summarize(findings));
  const [worst] = faults;
  const judgement: TrustJudgement = {
    reason: worst?.fault,
    message: [...sentences, ...(worst === undefined ? [] : [adviceOn(worst.fault)])].join(" "),
    alarms: [
      ...describeNews(policy.memory, known, extended),
      ...doubts.flatMap(({ fault, findings }) => toAlarms(fault, findings)),
      ...toAlarms("moved", before === undefined ? [] : findMoves(before, card.outline)),
    ],
  };
  return { judgement, isDoubtful: doubts.length > 0 };
}

/** What may be wrong with a card. */
interface Doubt {
  readonly fault: "pin-changed" | "security-too-weak" | "downgrade";
  /** What the policy makes of it. Default `refuse`. */
  readonly choice: "refuse" | "alarm" | undefined;
  /** How the message begins that tells of it. */
  readonly opening: string;
  readonly findings: readonly Finding[];
}

/** The worst first, also those of which nothing was found. */
function findDoubts(
  { policy, thumbprints, extended = false, card }: TrustQuestion,
  known: KnownAgent | undefined,
): readonly Doubt[] {
  const { minimumSecurity, onDowngrade } = policy;
  const { key, before, pins, isUncompared = false } = known ?? {};
  const strangers = `None of the known keys of ${key} has signed the card. The keys that have signed it: ${thumbprints.join(", ")}.`;
  const lost =
    "The last card of this agent declared something else, and is no longer stored: this card cannot be compared with it.";
  const changed = pins?.isChanged ? [finding(strangers, "signatures")] : [];
  const missing = minimumSecurity ? findMissingSecurity(card.outline, minimumSecurity) : [];
  const weaker = before ? findDowngrades(before, card.outline, extended) : [];
  const unknown = isUncompared && !extended ? [finding(lost)] : [];
  const demanded = "The card declares less security than the policy demands. ";
  const compared = "The card is weaker than the last one of this agent. ";
  return [
    { fault: "pin-changed", choice: "refuse", opening: "", findings: changed },
    { fault: "security-too-weak", choice: "refuse", opening: demanded, findings: missing },
    { fault: "downgrade", choice: onDowngrade, opening: compared, findings: weaker },
    { fault: "downgrade", choice: onDowngrade, opening: "", findings: unknown },
  ];
}

/** What a person should know of how the agent is known, though there may be nothing wrong with it. */
function describeNews(
  memory: CardMemory | undefined,
  known: KnownAgent | undefined,
  extended: boolean,
): readonly CardAlarm[] {
  if (known === undefined) {
    const text = "The card did not come from an http or https URL: it is neither compared nor remembered.";
    return memory === undefined ? [] : [{ kind: "not-remembered", ...finding(text) }];
  }
  const { key, remembered, pins, isUncompared, outline } = known;
  const isNew = remembered === undefined;
  if (extended) {
    const stranger = `No card of ${key} is remembered, so its extended card cannot be recognized.`;
    const large = `The public card of ${key} was too large to compare the extended card with it.`;
    return [...tell("first-use", isNew, stranger), ...tell("not-remembered", isUncompared, large)];
  }
  const first = `No card of ${key} was seen before. Its keys are trusted from now on.`;
  const large = `The card of ${key} is too large to be remembered: any change of it is refused.`;
  return [
    ...tell("first-use", isNew, first),
    ...pins.alarms,
    ...tell("not-remembered", outline.outline === undefined, large),
  ];
}

function tell(kind: CardAlarm["kind"], isSo: boolean, text: string): readonly CardAlarm[] {
  return isSo ? [{ kind, ...finding(text) }] : [];
}

function toAlarms(kind: CardAlarm["kind"], findings: readonly Finding[]): CardAlarm[] {
  return cutOff(findings, maxAlarms).map((each) => ({ kind, ...each }));
}

function summarize(findings: readonly Finding[]): string {
  return cutOff(findings, maxInMessage)
    .map(({ text }) => text)
    .join(" ");
}

/** The first of some findings; the last one says how many more there are. */
function cutOff(findings: readonly Finding[], most: number): readonly Finding[] {
  const rest = findings.length - most;
  return rest > 0 ? [...findings.slice(0, most), finding(`There are ${rest} more such findings.`)] : findings;
}
