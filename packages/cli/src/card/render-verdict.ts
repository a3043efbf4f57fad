import type { CardVerification, SignatureVerdict } from "@a2a-connect/signing";
import { quote } from "../doctor/finding.ts";
import type { Output } from "../output/output.ts";
import { nextStep, type VerdictSituation } from "./next-step.ts";

/** A verdict, and what people want to know beside it. */
export interface VerdictReport extends VerdictSituation {
  readonly verification: CardVerification;
  /** Where the card came from, for people. */
  readonly name: string;
  /** What the card calls itself. */
  readonly subject: { readonly name?: string; readonly version?: string };
  /** Which of the keys that were given this is, for people; undefined for a key of a key set. */
  readonly keyName: (thumbprint: string) => string | undefined;
}

/** Rows of one kind that text shows. */
const maxRows = 50;

/** The whole verdict in fields: subject, verdict, each signature, coverage, alarms, what to do next. */
export async function renderVerdict(output: Output, report: VerdictReport): Promise<void> {
  const { verification, name } = report;
  const { verified, reason, message, profile, signatures } = verification;
  await output.field("Card", describeSubject(report));
  await output.field("From", name);
  await output.field("Verdict", verified ? "VERIFIED" : "NOT VERIFIED");
  await output.field("Reason", reason);
  await output.field("Because", message);
  for (const verdict of signatures.slice(0, maxRows)) {
    await renderSignature(output, verdict, report);
  }
  if (signatures.length > maxRows) await output.field("Signature", `${signatures.length - maxRows} more`);
  await output.field("Profile", profile);
  await renderCoverage(output, verification);
  for (const { kind, text, paths } of verification.alarms.slice(0, maxRows)) {
    await output.field("Alarm", `${kind}: ${text}${paths.length === 0 ? "" : ` (${listPaths(paths)})`}`);
  }
  await output.field("Trust", describeTrust(verification, report));
  await output.field("Next", nextStep(verification, report));
}

/** The verdict as programs get it: null where there is nothing. */
export function toDocument(verification: CardVerification): Readonly<Record<string, unknown>> {
  const { verified, profile, kid, alg, uncovered, reason, message, signatures, alarms } = verification;
  return withNulls({
    verified,
    profile,
    kid,
    alg,
    uncovered,
    reason,
    message,
    signatures: signatures.map((verdict) => withNulls({ ...verdict })),
    alarms,
  });
}

/** What a verified card proves, and what not: undefined when nothing was proved. */
export function describeTrust(
  { verified, signatures }: CardVerification,
  { url, keyName }: Pick<VerdictReport, "url" | "keyName">,
): string | undefined {
  const best = signatures.find(({ valid }) => valid);
  if (!verified || best?.keySource === undefined) return undefined;
  if (best.keySource === "trusted") {
    const key = best.thumbprint === undefined ? undefined : keyName(best.thumbprint);
    return `the owner of a key that you gave signed this card${key === undefined ? "" : ` (${key})`}`;
  }
  const keySet = URL.parse(best.keySource);
  return keySet !== null && url !== undefined && keySet.origin === URL.parse(url)?.origin
    ? `the key is from the card's own origin, so this proves that whoever controls ${keySet.origin} signed the card, and nothing more; to pin the signer, give its key with --key`
    : `the key is from ${keySet?.host ?? "a host"} that you named (--jwks-host): it says who signs`;
}

function describeSubject({ verification, subject: { name, version } }: VerdictReport): string {
  if (name === undefined) return "no name can be read";
  const called = version === undefined ? quote(name) : `${quote(name)}, version ${quote(version)}`;
  return verification.verified ? called : `${called} (so it says; nothing proves it)`;
}

async function renderSignature(
  output: Output,
  verdict: SignatureVerdict,
  { verification, headers, keyName }: VerdictReport,
): Promise<void> {
  const { index, valid, kid, alg, profile, thumbprint, keySource, fault, problem } = verdict;
  const place = `${index + 1} of ${verification.signatures.length}`;
  await output.field("Signature", `${place}, ${valid ? `valid (${profile})` : `NOT VALID (${fault})`}`);
  const { typ, jku } = headers[index] ?? {};
  const header = [
    ["kid", kid],
    ["alg", alg],
    ["typ", typ],
    ["jku", jku],
  ].map(([label, value]) => (value === undefined ? `no ${label}` : `${label} ${quote(value)}`));
  await output.field("Header", header.join(", "));
  if (thumbprint !== undefined) {
    const from =
      keySource === "trusted" ? (keyName(thumbprint) ?? "the keys that you gave") : (keySource ?? "nowhere");
    await output.field("Key", `thumbprint ${thumbprint}, from ${from}`);
  }
  await output.field("Problem", problem);
}

async function renderCoverage(output: Output, { profile, uncovered }: CardVerification): Promise<void> {
  if (profile === undefined) return;
  await output.field(
    "Coverage",
    uncovered.length === 0
      ? "everything in the card but its signatures"
      : `${uncovered.length} field${uncovered.length === 1 ? " is" : "s are"} NOT protected`,
  );
  for (const path of uncovered.slice(0, maxRows)) await output.field("Uncovered", quote(path));
  if (uncovered.length > maxRows) {
    await output.field("Uncovered", `${uncovered.length - maxRows} more; -o json lists them all`);
  }
}

function listPaths(paths: readonly string[]): string {
  const shown = paths.slice(0, 10).map(quote).join(", ");
  return paths.length > 10 ? `${shown} and ${paths.length - 10} more` : shown;
}

function withNulls(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, value ?? null]));
}
