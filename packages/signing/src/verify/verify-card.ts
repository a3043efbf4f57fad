import type { JsonValue } from "@bufbuild/protobuf";
import { CardTextError, readCardText } from "../canonical/unambiguous-text.ts";
import type { VerificationKey } from "../keys/key-type.ts";
import { maxSignatures, SignedCard } from "../signed-card.ts";
import { judgeTrust } from "../trust/judge-trust.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";
import { cardTurn } from "./card-turns.ts";
import { checkSignature } from "./check-signature.ts";
import { removableAlarms, unrequiredAlarms } from "./coverage.ts";
import { adviceOn, type CardFault } from "./faults.ts";
import { type PreparedPolicy, preparePolicy } from "./prepared-policy.ts";
import { describeDistrusted, describeRefused, describeVerified } from "./sentences.ts";
import { type CardAlarm, type CardVerdict, listPaths } from "./verdict.ts";
import { type WeighedChecks, weighChecks } from "./weigh-checks.ts";

/** By what a card is verified: keys alone, or a whole policy. */
export type VerifyCardOptions = VerificationContext &
  (
    | { readonly keys: readonly VerificationKey[]; readonly trustPolicy?: undefined }
    | { readonly trustPolicy: TrustPolicy; readonly keys?: undefined }
  );

/** What is known of a card beside its text. */
export interface VerificationContext {
  /** Where the card came from. Without it only key sets of `jku.hosts` are fetched, and nothing is remembered. */
  readonly url?: string | URL | undefined;
  /** The URL that was asked for, when redirects led from there to `url`: by that the card is remembered. Default `url`. */
  readonly asked?: string | URL | undefined;
  /**
   * Whether it is the extended card of the agent whose public card is at `url`. It is not remembered, since what is in it depends on
   * who asks. When the policy's memory knows the agent, one of its known keys must have signed this, too. Default false.
   */
  readonly extended?: boolean | undefined;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /**
   * Fetches key sets, when the policy has no `jku.fetch`. What was fetched is kept with the policy, for all callers. Default the
   * platform's.
   */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Stops the check: fetching key sets, and waiting for the memory or for a turn. */
  readonly signal?: AbortSignal | undefined;
}

/** Verifies cards by one policy, and keeps the key sets that it has asked. */
export interface CardVerifier {
  /** As {@link verifyCard}, by the verifier's policy. */
  verify(text: string, context?: VerificationContext): Promise<CardVerdict>;
}

/**
 * Verifies a card over the text that was received (spec §8.4.3): that it can be read in one way only and is a card, who has signed
 * it, what those signatures protect, and whether a policy trusts it by that. Nothing that a card contains makes it throw.
 *
 * Key sets are kept for as long as the `trustPolicy` object is in use. Verifying with one that has a memory changes the memory.
 *
 * @param text the whole card, as it came
 * @throws TypeError when the options have no meaning
 * @throws what `signal` was aborted with, and what the policy's memory throws; Error when that does not answer
 */
export async function verifyCard(text: string, options: VerifyCardOptions): Promise<CardVerdict> {
  const { keys, trustPolicy, ...context } = options;
  if ((keys === undefined) === (trustPolicy === undefined)) {
    throw new TypeError("verifyCard needs either keys or a trustPolicy");
  }
  const policy = trustPolicy === undefined ? { keys: keys ?? [] } : trustPolicy;
  return await createCardVerifier(policy).verify(text, context);
}

/**
 * A verifier for many cards: the policy is looked over once.
 *
 * @param policy must not be changed any more
 * @throws TypeError when the policy has no meaning
 */
export function createCardVerifier(policy: TrustPolicy): CardVerifier {
  const prepared = preparePolicy(policy);
  return { verify: (text, context = {}) => verify(text, prepared, context) };
}

async function verify(
  text: string,
  policy: PreparedPolicy,
  context: VerificationContext,
): Promise<CardVerdict> {
  const { url, asked = url, now = Date.now, signal, fetch } = context;
  if (typeof text !== "string") throw new TypeError("the card must be a text");
  const cardUrl = url === undefined ? undefined : new URL(url);
  await cardTurn(cardUrl, signal);
  const read = readSignedCard(text);
  if ("reason" in read) return conclude({}, read.reason, `${read.problem} ${adviceOn(read.reason)}`);
  const { card, entries } = read;
  // Each entry is checked by itself, so that a malformed one does not make the others fail.
  const seen = entries.slice(0, maxSignatures);
  const { length } = text;
  const askedKeySets = new Set<string>();
  const checking = { card, length, policy, cardUrl, now: now(), signal, fetch, askedKeySets };
  const checks = await Promise.all(seen.map((entry, index) => checkSignature(entry, index, checking)));
  await cardTurn(cardUrl, signal);
  const weighed = weighChecks(checks, card, policy);
  const fault = findSignatureFault(weighed, policy);
  if (fault !== undefined) {
    return conclude(weighed, fault, describeRefused(fault, weighed, policy, entries.length));
  }
  const { covering, signers: thumbprints } = weighed;
  const judged = await judgeTrust({ ...context, card, url: asked, thumbprints, policy: policy.policy, now });
  if (judged.reason !== undefined) {
    const message = describeDistrusted(judged.message, weighed);
    return conclude(weighed, judged.reason, message, judged.alarms);
  }
  const unrequired = covering === undefined ? unrequiredAlarms(card.outline) : [];
  return conclude(weighed, undefined, describeVerified(weighed), [...judged.alarms, ...unrequired]);
}

/** @param reason undefined: the card is verified */
function conclude(
  { checks = [], best, covering, gap, uncovered = [] }: Partial<WeighedChecks>,
  reason: CardFault | undefined,
  message: string,
  alarms: readonly CardAlarm[] = [],
): CardVerdict {
  return {
    verified: reason === undefined,
    // The doubt that a legacy profile leaves is what refuses the signature, even where it is right by another profile, too.
    profile: gap === undefined ? best?.profile : covering,
    kid: best?.kid,
    alg: best?.alg,
    uncovered,
    reason,
    message,
    signatures: checks,
    alarms: [...removableAlarms(covering), ...alarms],
  };
}

function findSignatureFault(
  { best, gap, signerCount }: WeighedChecks,
  { minSigners }: PreparedPolicy,
): CardFault | undefined {
  if (signerCount >= minSigners) return undefined;
  if (best?.valid !== true) return best?.fault ?? "no-signature";
  return gap === undefined ? "too-few-signers" : "uncovered";
}

/** A card and its signatures, at least one; or why they cannot be looked at, with a sentence about it. */
function readSignedCard(
  text: string,
):
  | { readonly card: SignedCard; readonly entries: readonly JsonValue[] }
  | { readonly reason: CardFault; readonly problem: string } {
  try {
    const card = new SignedCard(readCardText(text));
    const entries = card.json["signatures"] ?? [];
    const isList = Array.isArray(entries);
    const problems = [...card.findProblems(), ...(isList ? [] : ["signatures must be an array"])];
    if (problems.length > 0 || !isList) {
      return { reason: "card-invalid", problem: `The card is not valid: ${listPaths(problems)}.` };
    }
    return entries.length > 0
      ? { card, entries }
      : { reason: "no-signature", problem: "The card has no signature." };
  } catch (error) {
    if (!(error instanceof CardTextError)) throw error;
    return { reason: error.fault, problem: `Nothing can be said about who signed it: ${error.message}.` };
  }
}
