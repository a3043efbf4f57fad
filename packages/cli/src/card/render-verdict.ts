import type { CardFault } from "@a2a-connect/signing/internal";
import { quote } from "../doctor/finding.ts";
import { isLocalHost } from "../doctor/target.ts";
import type { Output } from "../output.ts";
import { quote as shellQuote } from "../task/hints.ts";
import { type CardChange, hostOf } from "./card-text.ts";
import type {
  AppliedPolicy,
  FittingProfile,
  SignatureReport,
  VerdictAlarm,
  VerdictReport,
} from "./verdict.ts";

/** Rows of one kind that text shows. */
const maxRows = 10;

/** Signatures that text shows. */
const maxSignatures = 5;

/** Longest value of a change, in UTF-16 units. */
const maxValueLength = 80;

/** The whole verdict in fields: subject, verdict, what it rests on, what was vouched for, what to do next. */
export async function renderVerdict(output: Output, report: VerdictReport): Promise<void> {
  const { verification, message, hasGaps, name } = report;
  const { verified, reason, profile } = verification;
  await output.field("Card", describeSubject(report));
  await output.field("From", name);
  await output.field("Verdict", verified ? (hasGaps ? "VERIFIED, WITH GAPS" : "VERIFIED") : "NOT VERIFIED");
  if (hasGaps) await renderUncovered(output, report);
  await output.field("Reason", reason);
  await output.field("Because", message);
  await renderAlarms(output, report);
  await renderChanges(output, report.changes);
  await renderSignatures(output, report);
  await output.field("Profile", profile);
  await renderCoverage(output, report);
  await renderClaims(output, report);
  await output.field("Trust", describeTrust(report));
  await output.field("Memory", describeMemory(report));
  await output.field("Digest", report.sha256 === undefined ? undefined : `SHA-256 ${report.sha256}`);
  await output.field("Checked", `${report.time}, by ${describePolicy(report.policy)}`);
  await output.field("Next", nextStep(report));
}

/** What a verified card proves, and what not: undefined when nothing was proved. */
export function describeTrust({ proof, trust, signatures, url, keyName }: VerdictReport): string | undefined {
  if (proof?.keySource === undefined) return undefined;
  const { host = "a host", origin = "" } = URL.parse(proof.keySource) ?? {};
  switch (trust) {
    case "given-key": {
      const names = signatures
        .filter(({ valid, keySource }) => valid && keySource === "trusted")
        .flatMap(({ thumbprint = "" }) => keyName(thumbprint) ?? []);
      const list = [...new Set(names)].join(", ");
      return `the owner of a key that you gave signed this card${list === "" ? "" : ` (${list})`}`;
    }
    case "own-origin": {
      const parsed = url === undefined ? null : URL.parse(url);
      const isExposed = parsed?.protocol === "http:" && !isLocalHost(parsed.hostname);
      const others = isExposed ? ", or is anywhere on the way there (it is not reached by TLS)," : "";
      return `the key is from the card's own origin, so this proves that whoever controls ${origin}${others} signed the card, and nothing more; to pin the signer, give its key with --key`;
    }
    case "named-host":
      return `the key is from ${host} that you named (--jwks-host): it says who signs`;
    case undefined:
      return undefined;
  }
}

function describeSubject({ signatures, subject: { name, version } }: VerdictReport): string {
  if (name === undefined) return "no name can be read";
  const called = version === undefined ? quoted(name) : `${quoted(name)}, version ${quoted(version)}`;
  return signatures.some(({ valid }) => valid) ? called : `${called} (so it says; nothing proves it)`;
}

/** What is worth knowing, and no reason to be alarmed. */
const notes: ReadonlySet<string> = new Set(["first-use", "not-remembered"]);

async function renderAlarms(output: Output, { alarms }: VerdictReport): Promise<void> {
  for (const { kind, text, paths } of alarms.slice(0, maxRows)) {
    const where = paths.length === 0 ? "" : ` (${quotedList(paths)})`;
    await output.field(notes.has(kind) ? "Note" : "Alarm", `${kind}: ${text}${where}`);
  }
  await renderRest(output, "Alarm", alarms.length, maxRows);
}

async function renderChanges(output: Output, changes: readonly CardChange[]): Promise<void> {
  for (const { path, was, is } of changes.slice(0, maxRows)) {
    await output.field("Changed", `${quoted(path).slice(1, -1)}: was ${showValue(was)}, is ${showValue(is)}`);
  }
  await renderRest(output, "Changed", changes.length, maxRows);
}

function showValue(value: unknown): string {
  const text = JSON.stringify(value) ?? "not there";
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text;
}

async function renderSignatures(output: Output, report: VerdictReport): Promise<void> {
  const { signatures } = report;
  for (const signature of signatures.slice(0, maxSignatures))
    await renderSignature(output, signature, report);
  await renderRest(output, "Signature", signatures.length, maxSignatures);
}

async function renderSignature(
  output: Output,
  signature: SignatureReport,
  report: VerdictReport,
): Promise<void> {
  const { index, valid, profile, thumbprint, keySource, fault, problem, header, tried, expires } = signature;
  const { signatures, message, keyName } = report;
  const place = `${index + 1} of ${signatures.length}`;
  await output.field("Signature", `${place}, ${valid ? `valid (${profile})` : `NOT VALID (${fault})`}`);
  const { kid, alg, typ, jku } = header ?? {};
  const members = [
    ["kid", kid],
    ["alg", alg],
    ["typ", typ],
    ["jku", jku],
  ].map(([label, value]) => (value === undefined ? `no ${label}` : `${label} ${quoted(value)}`));
  await output.field("Header", members.join(", "));
  if (thumbprint !== undefined) {
    const from =
      keySource === "trusted" ? (keyName(thumbprint) ?? "the keys that you gave") : (keySource ?? "nowhere");
    const until = expires === undefined ? "" : `, counts until ${expires}`;
    await output.field("Key", `thumbprint ${thumbprint}, from ${from}${until}`);
  }
  for (const each of tried.slice(0, 3)) {
    await output.field("Key Tried", `thumbprint ${each}, from ${keyName(each) ?? "its key set"}`);
  }
  // Of the only signature the whole story tells it already.
  if (problem !== undefined && signatures.length > 1 && !message.includes(problem)) {
    await output.field("Problem", problem);
  }
}

async function renderCoverage(output: Output, report: VerdictReport): Promise<void> {
  const { verification, hasGaps } = report;
  const { profile, uncovered, alarms } = verification;
  if (profile === undefined) return;
  const covered =
    uncovered.length === 0
      ? "everything in the card but its signatures"
      : `${uncovered.length} field${uncovered.length === 1 ? " is" : "s are"} NOT protected`;
  const mayLack = alarms.some(({ kind }) => kind === "removable");
  await output.field("Coverage", mayLack ? `${covered}; something empty may have been taken out` : covered);
  if (!hasGaps) await renderUncovered(output, report);
}

/** Where callers go and what they are asked for first. */
async function renderUncovered(
  output: Output,
  { verification: { uncovered } }: VerdictReport,
): Promise<void> {
  const paths = [...uncovered].sort((one, other) => weight(one) - weight(other));
  for (const path of paths.slice(0, maxRows)) await output.field("Uncovered", quoted(path).slice(1, -1));
  await renderRest(output, "Uncovered", paths.length, maxRows);
}

function weight(path: string): number {
  return /^(?:supported_?interfaces|security|skills\[\d+\]\.security)/i.test(path) ? 0 : 1;
}

/** What was vouched for; of a card that is not verified, where it would have callers go. */
async function renderClaims(output: Output, { verification, claims, url }: VerdictReport): Promise<void> {
  if (claims === undefined) return;
  const { interfaceHosts, tokenHosts } = claims;
  const interfaces = interfaceHosts.length === 0 ? "none" : quotedList(interfaceHosts, 5);
  if (!verification.verified) {
    const tokens = tokenHosts.length === 0 ? "" : `; tokens from ${quotedList(tokenHosts, 5)}`;
    return await output.field("Would Lead To", `${interfaces}; asks for ${describeDemands(claims)}${tokens}`);
  }
  const own = url === undefined ? undefined : hostOf(url);
  const foreign = own !== undefined && interfaceHosts.some((host) => host !== own);
  await output.field("Interfaces", `${interfaces}${foreign ? ` (the card came from ${quoted(own)})` : ""}`);
  await output.field("Asks For", describeDemands(claims));
  if (tokenHosts.length > 0) await output.field("Tokens From", quotedList(tokenHosts, 5));
}

function describeDemands({ demands, stricterSkills }: NonNullable<VerdictReport["claims"]>): string {
  const all =
    demands === undefined
      ? "no credentials"
      : demands.map((demand) => quoted(demand).slice(1, -1)).join(", or ");
  const more =
    stricterSkills === 0 ? "" : `; ${stricterSkills} skill${stricterSkills === 1 ? "" : "s"} for more`;
  return all + more;
}

function describeMemory({ verification: { verified }, known }: VerdictReport): string | undefined {
  if (known === undefined) return undefined;
  const { file, key, remembered } = known;
  if (key === undefined) return `${file}: nothing was remembered, because the card came from no URL`;
  const refused = verified ? "" : "; nothing was remembered of this card, because it is refused";
  if (remembered === undefined)
    return `${file}: ${key} ${verified ? "is known from now on" : `is not known${refused}`}`;
  const { firstSeen, lastSeen, thumbprints } = remembered;
  const keys = thumbprints.slice(0, 3).join(", ");
  return `${file}: ${key} is known since ${firstSeen}, last seen ${lastSeen}, by the key with thumbprint ${keys}${refused}`;
}

function describePolicy(policy: AppliedPolicy): string {
  const { keys, keySets, profiles, allowUncovered, minSigners, requireSecurity } = policy;
  const sets =
    keySets === "none"
      ? []
      : keySets === "own-origin"
        ? ["the key set of the card's own origin"]
        : [`key sets of ${keySets.join(", ")}`];
  return [
    [...(keys.length === 0 ? [] : [`key${keys.length === 1 ? "" : "s"} ${keys.join(", ")}`]), ...sets].join(
      " and ",
    ),
    `profile ${["strict", ...profiles].join(", ")}${allowUncovered ? " (gaps allowed)" : ""}`,
    ...(minSigners === 1 ? [] : [`${minSigners} signers`]),
    ...(requireSecurity ? ["security required"] : []),
  ].join("; ");
}

async function renderRest(output: Output, label: string, count: number, shown: number): Promise<void> {
  if (count > shown) await output.field(label, `${count - shown} more; -o json lists them`);
}

/** What to do about a card that is not verified, in a sentence; undefined when there is nothing to be done. */
function nextStep(report: VerdictReport): string | undefined {
  const { verification, fits, lostKeySets } = report;
  const { reason } = verification;
  if (reason === undefined) return undefined;
  if (fits !== undefined) return askForSignature(fits);
  switch (reason) {
    case "key-unknown":
      return findKey(report);
    case "jku-not-allowed":
      return nameHost(report);
    case "jwks-unavailable":
      return `${lostKeySets[0]?.failure.fix ?? "try again"} Or give the signer's public key with --key`;
    case "pin-changed":
      return `ask the operator, over another way than the card, whether the keys have changed; only if they have: ${forgetCommand(report)}, then verify again with the new key (--key alone does not help: the old ones are remembered)`;
    case "downgrade":
      return `ask the operator, over another way than the card, whether the agent is less protected than before; only if it is: ${forgetCommand(report)}, then verify again`;
    default:
      return steps[reason];
  }
}

/** The flag is the last thing to be told, and only where it would do. */
function askForSignature({ profile, isRefused }: FittingProfile): string {
  const ask =
    "ask the operator to sign the card by the specification (a2a card sign), or compare it with a copy that you have from him over another way";
  return isRefused
    ? `${ask}. The profile would not do: what it leaves open matters to security`
    : `${ask}. Only where you know that older software signs his cards, --profile ${profile} lets the signature count`;
}

function findKey({ url, policy, signatures }: VerdictReport): string {
  const other = policy.keys.length > 0 ? "another key" : "the signer's public key";
  const byHand = `get ${other} from a source you trust, over another way than the card, and give it with --key`;
  const host = keySetHost(signatures);
  if (host === undefined) return byHand;
  return url === undefined
    ? `${byHand}; or, where you trust ${host} to say who signs, --jwks-host ${host}`
    : `${byHand}; without --key, the key set that the signature names is asked where it is on the card's own origin`;
}

function nameHost({ signatures }: VerdictReport): string {
  const host = keySetHost(signatures);
  const byHand = "give the signer's public key with --key";
  return host === undefined
    ? byHand
    : `${byHand}; or, where you trust ${host} to say who signs every card, --jwks-host ${host}`;
}

/** The host of the key set that a signature names, as the option takes it. */
function keySetHost(signatures: VerdictReport["signatures"]): string | undefined {
  const jku = signatures.flatMap(({ header }) => header?.jku ?? [])[0];
  const { host = "" } = jku === undefined ? {} : (URL.parse(jku) ?? {});
  return host === "" ? undefined : host;
}

function forgetCommand({ asked, known }: VerdictReport): string {
  return ["a2a card forget", ...[asked ?? "", "--memory", known?.file ?? ""].map(shellQuote)].join(" ");
}

/** Where the verdict's own message does not say it all: the options and commands that lead on. */
const steps: Readonly<Partial<Record<CardFault, string>>> = {
  "not-json": "a2a doctor says what is there in the place of a card",
  "not-an-object": "a2a doctor says what is there in the place of a card",
  "card-invalid": "a2a card get --validate lists what is wrong with the card",
  "no-signature": "a2a card sign is how its operator does it",
  "signature-mismatch":
    "compare the digest, or what a2a card canonical prints, with what the operator has signed: that shows what was changed",
  uncovered:
    "ask the operator to sign the card by the specification (a2a card sign), or compare it with a copy that you have from him over another way",
  "too-few-signers": "give the keys of the other signers with --key",
  "security-too-weak": "without --require-security the card counts; send nothing confidential then",
};

type Facts = Pick<VerdictReport, "verification" | "fits" | "lostKeySets" | "known">;

/** Why the verdict is what it is, in a sentence or more: the library's words, with what only the command has looked for. */
export function tellStory({ verification, fits, lostKeySets }: Facts): string {
  const { message, reason } = verification;
  if (fits !== undefined) {
    const { profile, uncovered } = fits;
    const open =
      uncovered.length === 0
        ? "every empty member could have been taken out of it without a trace"
        : `it would leave unprotected ${quotedList(uncovered)}`;
    return `The signature is not one of this card by the specification. It is right by the profile ${profile}, of older software, and by that ${open}. Whether such software has signed the card, or somebody changed it after it was signed, nobody can tell from the card: do not use it before you know.`;
  }
  const lost = reason === "jwks-unavailable" ? lostKeySets[0] : undefined;
  if (lost === undefined) return message;
  const { what, code } = lost.failure;
  return `${message} The server of the key set ${what}${code === undefined ? "" : ` (${code})`}.`;
}

/** What a person should look at. That a known agent signs no more is the greatest of all downgrades. */
export function tellAlarms({ verification, known }: Facts): readonly VerdictAlarm[] {
  const { alarms, reason } = verification;
  const { remembered, key } = known ?? {};
  if (reason !== "no-signature" || remembered === undefined) return alarms;
  const { thumbprints, lastSeen } = remembered;
  const text = `The cards of ${key} were signed, by the key with thumbprint ${thumbprints.join(", ")}, the last one seen at ${lastSeen}; this one is not.`;
  return [{ kind: "unsigned", text, paths: ["signatures"] }, ...alarms];
}

/** Somebody else's text where a sentence of ours goes on behind it: short, on one line, and one sees where it ends. */
function quoted(text: string): string {
  return JSON.stringify(quote(text));
}

/** Several of them: `"a", "b" and 3 more`. */
function quotedList(texts: readonly string[], maxItems = 10): string {
  const shown = texts.slice(0, maxItems).map(quoted).join(", ");
  return texts.length > maxItems ? `${shown} and ${texts.length - maxItems} more` : shown;
}
