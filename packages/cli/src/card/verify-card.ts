import { resolve } from "node:path";
import { createGuardedFetch } from "@a2a-connect/node";
import { createFileCardMemory } from "@a2a-connect/node/client";
import {
  type CardVerification,
  type LegacyProfile,
  type TrustPolicy,
  verifyCard as verifyCardText,
} from "@a2a-connect/signing";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";
import { type GivenKeys, readGivenKeys } from "../keys/given-keys.ts";
import { type CardSource, readCardSource } from "./card-source.ts";
import { findFittingProfile } from "./fitting-profile.ts";
import { describeTrust, renderVerdict, toDocument } from "./render-verdict.ts";
import { readSignatureHeaders, readSubject } from "./signature-header.ts";

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
 * Verifies a card, prints the verdict, and exits with 1 when it is not verified. A verdict is no error, whatever it is.
 *
 * @throws CliError USAGE for keys and hosts that are none; CARD_NOT_FOUND, CARD_INVALID where there is no text to verify
 */
export async function verifyCard(
  context: CommandContext,
  reference: string | undefined,
  flags: VerifyCardFlags,
): Promise<void> {
  const { io, output, settings, signal, exitWith } = context;
  const hosts = flags.jwksHost?.map(requireHost);
  const given = flags.key === undefined ? undefined : await readGivenKeys(flags.key, io);
  const source = await readCardSource(context, reference);
  const { cardKey = settings.cardKey, cardProfiles = [] } = source.settings ?? {};
  const keys = given ?? (await readGivenKeys(cardKey === undefined ? [] : [cardKey], io));
  await using guarded = createGuardedFetch({ allow: namedHosts(source, hosts) });
  const mayAsk = hosts !== undefined || keys.isEmpty;
  const policy: TrustPolicy = {
    keys: keys.forCard(source.text),
    ...(mayAsk ? { jku: { fetch: guarded.fetch, ...(hosts === undefined ? {} : { hosts }) } } : {}),
    profiles: flags.profile ?? cardProfiles,
    allowUncovered: flags.allowUncovered ?? false,
    minSigners: flags.minSigners ?? 1,
    ...(flags.requireSecurity === true ? { minimumSecurity: { requirements: true, tls: true } } : {}),
    ...(flags.memory === undefined ? {} : { memory: createFileCardMemory(resolve(io.cwd, flags.memory)) }),
  };
  const { url, asked = url } = source;
  const situation = { signal, ...(url === undefined || asked === undefined ? {} : { url, asked }) };
  const verification = await verifyCardText(source.text, { trustPolicy: policy, ...situation });
  signal.throwIfAborted();
  const report = {
    verification,
    name: source.name,
    url: source.url,
    subject: readSubject(source.text),
    headers: readSignatureHeaders(source.text),
    hasKeys: !keys.isEmpty,
    keyName: keys.nameOf,
    fitsProfile: await findFittingProfile(source.text, verification, policy, situation),
  };
  await renderVerdict(output, report);
  await output.document(toDocument(verification));
  if (output.format === "json") await noteTrust(context, verification, keys, source);
  exitWith(verification.verified ? 0 : 1);
}

/** What a program's reader should know, too, when the card itself said who signs it. */
async function noteTrust(
  { output }: CommandContext,
  verification: CardVerification,
  { nameOf }: GivenKeys,
  { url }: CardSource,
): Promise<void> {
  if (!verification.signatures.some(({ keySource }) => keySource === "trusted")) {
    const trust = describeTrust(verification, { url, keyName: nameOf });
    if (trust !== undefined) await output.note(trust);
  }
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
  throw new CliError("A2ACLI_ERR_USAGE", `--jwks-host: "${text}" is no host`, {
    hint: "a host such as keys.example.org, with its port where that is not 443",
  });
}
