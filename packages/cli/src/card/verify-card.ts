import { createGuardedFetch } from "@a2a-connect/node";
import {
  canonicalCard,
  cardDigest,
  type TrustPolicy,
  verifyCard as verifyCardText,
} from "@a2a-connect/signing";
import { type LegacyProfile, parseHost } from "@a2a-connect/signing/internal";
import { usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { defined } from "../json.ts";
import { readGivenKeys } from "../keys/given-keys.ts";
import { readCardSource } from "./card-source.ts";
import { KeySetLog } from "./key-set-log.ts";
import { openMemory, recallAgent } from "./memory.ts";
import { describeTrust, renderVerdict } from "./render-verdict.ts";
import { findProof } from "./trust-basis.ts";
import { type AppliedPolicy, reportSignatures, toDocument, type VerdictReport } from "./verdict.ts";

export interface VerifyCardFlags {
  readonly key?: readonly string[];
  readonly jwksHost?: readonly string[];
  readonly profile?: readonly LegacyProfile[];
  readonly allowUncovered?: boolean;
  readonly minSigners?: number;
  readonly requireSecurity?: boolean;
  readonly memory?: string;
}

/** Verifies a card, prints the verdict, and exits with 1 when it is not verified. No verdict is an error. */
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
  const trust = describeTrust(report);
  if (output.format === "json" && trust !== undefined && report.proof?.basis !== "given-key") {
    await output.note(trust);
  }
}

async function judge(
  context: CommandContext,
  reference: string | undefined,
  flags: VerifyCardFlags,
): Promise<VerdictReport> {
  const { io, settings, signal } = context;
  const { minSigners = 1, allowUncovered = false, requireSecurity = false } = flags;
  const hosts = flags.jwksHost?.map(requireHost);
  const opened = flags.memory === undefined ? undefined : await openMemory(flags.memory, io);
  const readKeys = (references: readonly string[]) => readGivenKeys(references, io, { keepUnfit: true });
  const given = flags.key && (await readKeys(flags.key));
  const source = await readCardSource(context, reference);
  const { cardKey = settings.cardKey, cardProfiles = [] } = source.settings ?? {};
  const keys = given ?? (await readKeys(cardKey === undefined ? [] : [cardKey]));
  const keySets = hosts ?? (keys.names.length === 0 ? "own-origin" : "none");
  const profiles = flags.profile ?? cardProfiles;
  const applied = { keys, keySets, profiles, allowUncovered, minSigners, requireSecurity } as const;
  requireNamedSigners(applied);
  await warnAboutOptions(context, applied);

  const { url, asked, text } = source;
  // A host that is named is meant, wherever it leads.
  const allow = [...(url === undefined ? [] : [new URL(url).host]), ...(hosts ?? [])];
  await using guarded = createGuardedFetch({ allow });
  const log = new KeySetLog();
  const jku = { fetch: log.watch(guarded.fetch), ...defined({ hosts }) };
  const trustPolicy: TrustPolicy = {
    keys: keys.forCard(text),
    ...(keySets === "none" ? {} : { jku }),
    profiles,
    allowUncovered,
    minSigners,
    ...(requireSecurity ? { minimumSecurity: { requirements: true, tls: true } } : {}),
    ...defined({ memory: opened }),
  };
  const at = Date.now();
  const known = opened && (await recallAgent(opened, asked));
  const verification = await verifyCardText(text, { trustPolicy, signal, now: () => at, url, asked });
  signal.throwIfAborted();
  const canonical = findCanonical(text);
  const seenKeys = [...keys.forCard(text), ...(await log.keys())];
  return {
    verification,
    signatures: await reportSignatures(verification, text, seenKeys),
    source,
    canonical,
    sha256: canonical === undefined ? undefined : await cardDigest(text),
    policy: applied,
    proof: findProof(verification, minSigners, url),
    time: new Date(at).toISOString(),
    lostKeySets: log.lost,
    known,
  };
}

/** Several signers are worth more than one only where the card's own server does not make up who they are. */
function requireNamedSigners({ minSigners, keySets }: AppliedPolicy): void {
  if (minSigners === 1 || keySets !== "own-origin") return;
  throw usageError(
    "--min-signers proves nothing without --key or --jwks-host: the card's own origin then says who signs, and can make any number of keys",
    "name the signers with --key, or name a host that knows them with --jwks-host",
  );
}

/** Options that do not do what their names may promise. */
async function warnAboutOptions(
  { output, settings }: CommandContext,
  { profiles, allowUncovered, keySets, keys }: AppliedPolicy,
): Promise<void> {
  for (const name of keys.privateNames) {
    await output.warn(
      `${name} holds a private key; verify with the public one, which a2a keys public prints`,
    );
  }
  if (allowUncovered && profiles.length === 0) {
    await output.warn(
      "--allow-uncovered does nothing without --profile: a signature of the specification covers everything",
    );
  }
  if (settings.insecure && keySets !== "none") {
    await output.warn(
      "--insecure applies only to fetching the card: a2a still verifies the certificates of key set servers",
    );
  }
}

function findCanonical(text: string): string | undefined {
  try {
    return canonicalCard(text);
  } catch {
    return undefined; // the verdict says why
  }
}

function requireHost(text: string): string {
  const host = parseHost(text);
  if (host !== undefined) return host;
  throw usageError(
    `--jwks-host: "${text}" is not a host`,
    "give a host such as keys.example.org, with its port if that is not 443",
  );
}
