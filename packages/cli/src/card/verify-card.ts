import { createGuardedFetch } from "@a2a-connect/node";
import {
  type CardVerdict,
  canonicalCard,
  cardDigest,
  type TrustPolicy,
  verifyCard as verifyCardText,
} from "@a2a-connect/signing";
import type { LegacyProfile, VerificationContext } from "@a2a-connect/signing/internal";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { type GivenKeys, readGivenKeys } from "../keys/given-keys.ts";
import { type CardSource, readCardSource } from "./card-source.ts";
import { findChanges, readClaims, readSignatureHeaders, readSubject } from "./card-text.ts";
import { KeySetLog } from "./key-set-log.ts";
import { openMemory, recallAgent } from "./memory.ts";
import { basisOf, findFittingProfile, findProof } from "./proof.ts";
import { describeTrust, renderVerdict, tellAlarms, tellStory } from "./render-verdict.ts";
import { type AppliedPolicy, reportSignatures, toDocument, type VerdictReport } from "./verdict.ts";

/** The options that `card verify` has beside those of every command that talks to an agent. */
export interface VerifyCardFlags {
  readonly key?: readonly string[];
  readonly jwksHost?: readonly string[];
  readonly profile?: readonly LegacyProfile[];
  readonly allowUncovered?: boolean;
  readonly minSigners?: number;
  readonly requireSecurity?: boolean;
  readonly memory?: string;
}

/**
 * Verifies a card, prints the verdict, and exits with 1 when it is not verified. A verdict is no error, whatever it is. The exit
 * code is decided before anything is printed, and is not 0 when that could not be printed.
 *
 * @throws CliError USAGE for keys and hosts that are none, several signers of whom none is named, and a memory that cannot be
 *   used; CARD_NOT_FOUND, CARD_INVALID where
 *   there is no text to verify
 */
export async function verifyCard(
  context: CommandContext,
  reference: string | undefined,
  flags: VerifyCardFlags,
): Promise<void> {
  const { output } = context;
  context.needReader();
  const report = await judge(context, reference, flags);
  context.exitWith(report.verification.verified ? 0 : 1);
  await renderVerdict(output, report);
  await output.document(toDocument(report));
  if (output.format === "json" && report.trust !== "given-key") {
    const trust = describeTrust(report);
    if (trust !== undefined) await output.note(trust);
  }
}

async function judge(
  context: CommandContext,
  reference: string | undefined,
  flags: VerifyCardFlags,
): Promise<VerdictReport> {
  const { io, settings, signal } = context;
  const hosts = flags.jwksHost?.map(requireHost);
  const opened = flags.memory === undefined ? undefined : await openMemory(flags.memory, io);
  const readKeys = (references: readonly string[]) => readGivenKeys(references, io, { keepUnfit: true });
  const given = flags.key && (await readKeys(flags.key));
  const source = await readCardSource(context, reference);
  const { cardKey = settings.cardKey, cardProfiles = [] } = source.settings ?? {};
  const keys = given ?? (await readKeys(cardKey === undefined ? [] : [cardKey]));
  const mayAsk = hosts !== undefined || keys.isEmpty;
  const applied: AppliedPolicy = {
    keys: keys.names,
    keySets: !mayAsk ? "none" : (hosts ?? "own-origin"),
    profiles: flags.profile ?? cardProfiles,
    allowUncovered: flags.allowUncovered ?? false,
    minSigners: flags.minSigners ?? 1,
    requireSecurity: flags.requireSecurity ?? false,
  };
  requireCountable(applied);
  await warnAboutOptions(context, applied, keys);
  await using guarded = createGuardedFetch({ allow: namedHosts(source, hosts) });
  const log = new KeySetLog();
  const { url, asked = url, text } = source;
  const trusted = keys.forCard(text);
  const policy: TrustPolicy = {
    keys: trusted,
    ...(mayAsk
      ? { jku: { fetch: log.watch(guarded.fetch), ...(hosts === undefined ? {} : { hosts }) } }
      : {}),
    profiles: flags.profile ?? cardProfiles,
    allowUncovered: applied.allowUncovered,
    minSigners: applied.minSigners,
    ...(applied.requireSecurity ? { minimumSecurity: { requirements: true, tls: true } } : {}),
    ...(opened === undefined ? {} : { memory: opened.memory }),
  };
  const at = Date.now();
  const situation = {
    signal,
    now: () => at,
    ...(url === undefined || asked === undefined ? {} : { url, asked }),
  };
  const known = opened && (await recallAgent(opened, asked));
  const verification = await verifyCardText(text, { trustPolicy: policy, ...situation });
  signal.throwIfAborted();
  const fits = await findFittingProfile(text, verification, policy, situation);
  const canonical = findCanonical(text);
  const seenKeys = [...trusted, ...(await log.keys())];
  const proof = findProof(verification, url, applied.minSigners);
  const outline = known?.remembered?.outline;
  const isCompared = !verification.verified && canonical !== undefined && outline !== undefined;
  const report = {
    verification,
    fits,
    lostKeySets: log.lost,
    known,
    signatures: await reportSignatures(verification, readSignatureHeaders(text), seenKeys),
  };
  return {
    ...report,
    message: tellStory(report),
    alarms: tellAlarms(report),
    name: source.name,
    url,
    asked,
    subject: readSubject(text),
    sha256: canonical === undefined ? undefined : await cardDigest(text),
    claims: canonical === undefined ? undefined : readClaims(canonical),
    proof,
    trust: proof === undefined ? undefined : basisOf(proof, url),
    policy: applied,
    keyName: keys.nameOf,
    time: new Date(at).toISOString(),
    hasGaps: await hasGaps(text, verification, policy, situation),
    changes: isCompared ? findChanges(outline, canonical) : [],
  };
}

/**
 * Several signers are worth more than one only where the card's own server does not make up who they are.
 *
 * @throws CliError USAGE
 */
function requireCountable({ minSigners, keySets }: AppliedPolicy): void {
  if (minSigners === 1 || keySets !== "own-origin") return;
  throw usageError(
    "--min-signers has nothing to count: without keys or hosts that you name, the card's own origin says who signs, and can make as many keys as it likes",
    "name the signers with --key, or with --jwks-host a host that says who they are",
  );
}

/** Options that do not do what somebody may think. */
async function warnAboutOptions(
  { output, settings }: CommandContext,
  { profiles, allowUncovered, keySets }: AppliedPolicy,
  { privateNames }: GivenKeys,
): Promise<void> {
  for (const name of privateNames) {
    await output.warn(
      `${name} holds a private key, which has no place where cards are verified: a2a keys public prints its public side`,
    );
  }
  if (allowUncovered && profiles.length === 0) {
    await output.warn(
      "--allow-uncovered does nothing without --profile: by the specification everything is signed",
    );
  }
  if (settings.insecure && keySets !== "none") {
    await output.warn("--insecure holds for the card alone: the certificates of key sets are verified");
  }
}

/** Undefined for what has none. */
function findCanonical(text: string): string | undefined {
  try {
    return canonicalCard(text);
  } catch {
    return undefined; // the verdict says why
  }
}

/** Whether the card counts only because gaps were allowed that matter to security. */
async function hasGaps(
  text: string,
  { verified }: CardVerdict,
  { memory: _, ...policy }: TrustPolicy,
  situation: VerificationContext,
): Promise<boolean> {
  if (!verified || policy.allowUncovered !== true) return false;
  const trustPolicy = { ...policy, allowUncovered: false };
  return (await verifyCardText(text, { ...situation, trustPolicy })).reason === "uncovered";
}

/** Who names a host means it, wherever it leads. */
function namedHosts({ url }: CardSource, hosts: readonly string[] = []): readonly string[] {
  return [...(url === undefined ? [] : [new URL(url).host]), ...hosts];
}

/** @throws CliError USAGE */
function requireHost(text: string): string {
  const url = URL.parse(`https://${text}/`);
  if (url !== null && url.pathname === "/" && url.username === "" && !/[/?#\\*\s@]/.test(text))
    return url.host;
  throw usageError(
    `--jwks-host: "${text}" is no host`,
    "a host such as keys.example.org, with its port where that is not 443",
  );
}
