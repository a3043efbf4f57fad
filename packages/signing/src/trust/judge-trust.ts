import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { thumbprintOf } from "../keys/verification-key.ts";
import { advice } from "../verify/advice.ts";
import type { TrustAlarm, VerificationFault } from "../verify/verification.ts";
import type { CardMemory, RememberedCard } from "./card-memory.ts";
import { findDowngrades } from "./downgrade.ts";
import type { SecurityFinding } from "./finding.ts";
import { cardMemoryKey } from "./memory-key.ts";
import { findMissingSecurity } from "./minimum-security.ts";
import { comparePins, type PinVerdict } from "./pins.ts";
import type { TrustPolicy } from "./trust-policy.ts";

/** A card whose signatures are right. */
export interface TrustQuestion {
  /** Its canonical text, without signatures. What is judged is what this says, and not what it came as. */
  readonly canonical: string;
  /** By whose address it is remembered: the URL that was asked for. Without it nothing is remembered. */
  readonly url: string | URL | undefined;
  /** Thumbprints (RFC 7638) of the keys that verified it and count. */
  readonly thumbprints: readonly string[];
  readonly policy: TrustPolicy;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Whether it is the extended card of the agent. Default false. */
  readonly extended?: boolean | undefined;
}

/** Whether a card may be trusted, beyond its signatures. */
export interface TrustJudgement {
  /** Undefined when it may. */
  readonly fault: VerificationFault | undefined;
  /** What is wrong and what to do about it, in a sentence or more; undefined when nothing is. */
  readonly message: string | undefined;
  /** Everything that was found, whether it is a fault or not. */
  readonly alarms: readonly TrustAlarm[];
  /**
   * Remembers the card and its keys. To be called when everything else about it is right, too. Writes nothing when there is a
   * fault, nothing of an extended card, and nothing of one that was let pass though none of its keys is known or it is weaker
   * (`onPinChanged`, `onDowngrade`): that alarm comes back until somebody has the memory forget what it knew.
   *
   * @throws what the memory throws
   */
  commit(): Promise<void>;
}

/** Time in which a signature that somebody added is noticed. */
const defaultNewKeyDelayMs = 24 * 60 * 60 * 1_000;

/** Most findings of a kind that become alarms, and most that stand in the message. */
const maxAlarms = 50;
const maxInMessage = 3;

/**
 * Judges a card by what is remembered of its agent, and by what must be declared: its keys first, then the minimum of security,
 * then whether it is weaker than the last trusted one.
 *
 * @throws what the memory throws; Error when what it gives is damaged. Whoever cannot remember does not trust.
 */
export async function judgeTrust(question: TrustQuestion): Promise<TrustJudgement> {
  const { policy } = question;
  const known = await recall(question);
  const isCompared = policy.minimumSecurity !== undefined || known?.before !== undefined;
  const card = (isCompared ? readCanonical(question.canonical) : undefined) ?? {};
  const found: Found = {
    news: known === undefined ? [] : describeNews(known, question),
    change: known?.pins.kind === "changed" ? [describeChange(known.key, question.thumbprints)] : [],
    missing: policy.minimumSecurity === undefined ? [] : findMissingSecurity(card, policy.minimumSecurity),
    weaker: known?.before === undefined || question.extended ? [] : findDowngrades(known.before, card),
  };
  const faults = findFaults(found, policy);
  return {
    fault: faults[0]?.fault,
    message: faults.length === 0 ? undefined : tell(faults),
    alarms: [
      ...found.news,
      ...toAlarms("pin-changed", found.change),
      ...toAlarms("security-too-weak", found.missing),
      ...toAlarms("downgrade", found.weaker),
    ],
    commit: async () => {
      const isDoubtful = faults.length + found.change.length + found.weaker.length > 0;
      if (known !== undefined && !isDoubtful && !question.extended) {
        await known.memory.write(known.key, remember(question, known));
      }
    },
  };
}

/** What was found about a card. */
interface Found {
  readonly news: readonly TrustAlarm[];
  readonly change: readonly SecurityFinding[];
  readonly missing: readonly SecurityFinding[];
  readonly weaker: readonly SecurityFinding[];
}

interface Fault {
  readonly fault: VerificationFault;
  readonly message: string;
}

function tell(faults: readonly Fault[]): string {
  const what = faults.map(({ message }) => message);
  const doAbout = faults.slice(0, 1).map(({ fault }) => advice[fault]);
  return [...what, ...doAbout].join(" ");
}

/** What of it the policy does not let pass, the worst first. */
function findFaults(
  { change, missing, weaker }: Found,
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
  ] as const;
  return candidates
    .filter(({ findings }) => findings.length > 0)
    .map(({ fault, findings, opening }) => ({ fault, message: opening + summarize(findings) }));
}

/** What is known of the agent. */
interface Known {
  readonly memory: CardMemory;
  readonly key: string;
  readonly remembered: RememberedCard | undefined;
  /** Its last trusted card. */
  readonly before: JsonObject | undefined;
  readonly pins: PinVerdict;
}

/** Undefined when there is no memory, or nothing by which the agent would be known again. */
async function recall(question: TrustQuestion): Promise<Known | undefined> {
  const { memory } = question.policy;
  const key = question.url === undefined ? undefined : cardMemoryKey(question.url);
  if (memory === undefined || key === undefined) {
    return undefined;
  }
  const remembered = await memory.read(key);
  const before = remembered === undefined ? undefined : readCanonical(remembered.canonical);
  if (remembered !== undefined && before === undefined) {
    throw new Error(`what is remembered of ${key} is damaged: its card is no JSON object`);
  }
  return { memory, key, remembered, before, pins: await judgePins(question, remembered) };
}

async function judgePins(
  { thumbprints: signers, policy, now }: TrustQuestion,
  remembered: RememberedCard | undefined,
): Promise<PinVerdict> {
  const isNews = remembered !== undefined && signers.some((key) => !remembered.thumbprints.includes(key));
  const vouched = isNews ? await thumbprintsOf(policy) : [];
  const { newKeyDelayMs = defaultNewKeyDelayMs } = policy;
  return comparePins({ remembered, signers, vouched: new Set(vouched), now: now(), newKeyDelayMs });
}

/** Of the keys that the policy names. One that signs nothing here has none. */
async function thumbprintsOf({ keys = [] }: TrustPolicy): Promise<readonly string[]> {
  const settled = await Promise.allSettled(keys.map(thumbprintOf));
  return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}

function readCanonical(canonical: string): JsonObject | undefined {
  try {
    const json: JsonValue = JSON.parse(canonical);
    return typeof json === "object" && json !== null && !Array.isArray(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

function remember({ canonical, now }: TrustQuestion, { pins, remembered }: Known): RememberedCard {
  const lastSeen = new Date(now()).toISOString();
  return { ...pins.keys, canonical, firstSeen: remembered?.firstSeen ?? lastSeen, lastSeen };
}

function describeNews({ key, pins }: Known, { extended }: TrustQuestion): readonly TrustAlarm[] {
  if (pins.kind === "new") {
    const text = extended
      ? `Nothing is known of ${key} by which its extended card could be recognized.`
      : `This is the first card of ${key} that is seen. Its keys are trusted from now on.`;
    return [{ kind: "first-use", text, paths: [] }];
  }
  if (pins.waiting.length === 0) {
    return [];
  }
  const text = `Another key signs the card of ${key} beside a known one, and will be known when it has done so for long enough: ${pins.waiting.join(", ")}.`;
  return [{ kind: "pin-changed", text, paths: ["signatures"] }];
}

function describeChange(key: string, signers: readonly string[]): SecurityFinding {
  const text = `None of the keys by which ${key} is known has signed the card, but ${signers.join(", ")}.`;
  return { text, path: "signatures" };
}

function toAlarms(kind: TrustAlarm["kind"], findings: readonly SecurityFinding[]): TrustAlarm[] {
  const alarms = findings.slice(0, maxAlarms).map(({ text, path }) => ({ kind, text, paths: [path] }));
  const rest = findings.length - maxAlarms;
  return rest > 0 ? [...alarms, { kind, text: `There are ${rest} more such findings.`, paths: [] }] : alarms;
}

function summarize(findings: readonly SecurityFinding[]): string {
  const shown = findings.slice(0, maxInMessage).map(({ text }) => text);
  const rest = findings.length - shown.length;
  return [...shown, ...(rest > 0 ? [`There ${rest === 1 ? "is" : "are"} ${rest} more.`] : [])].join(" ");
}
