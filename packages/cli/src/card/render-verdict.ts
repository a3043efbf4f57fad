import { isLoopbackHost } from "@a2a-connect/core/internal";
import { type CardFault, quote, quoteList } from "@a2a-connect/signing/internal";
import { quote as shellQuote } from "../commands-to-copy.ts";
import type { Fields, Output } from "../output.ts";
import { type CardChange, readSubject } from "./card-text.ts";
import { claimFields, inline } from "./claims.ts";
import {
  type AppliedPolicy,
  changesOf,
  hasGaps,
  type SignatureReport,
  tellAlarms,
  tellStory,
  type VerdictReport,
} from "./verdict.ts";

/** Longest value of a change, in UTF-16 units. */
const maxValueLength = 80;

/** The first so many of these lines, and how many there are beside. */
function first(count: number, lines: readonly string[]): readonly string[] {
  const rest = lines.length > count ? [restOf(lines.length, count)] : [];
  return [...lines.slice(0, count), ...rest];
}

function restOf(count: number, shown: number): string {
  return `${count - shown} more; -o json lists them`;
}

/** Prints the whole verdict: subject, verdict, what it rests on, what was vouched for, what to do next. */
export async function renderVerdict(output: Output, report: VerdictReport): Promise<void> {
  const { verification, source, sha256, time, policy, signatures } = report;
  const { verified, reason, profile } = verification;
  const isOpen = hasGaps(report);
  const uncovered: Fields = { Uncovered: first(10, listUncovered(report)) };
  await output.fields({
    Card: describeSubject(report),
    From: source.name,
    Verdict: verified ? (isOpen ? "VERIFIED, WITH GAPS" : "VERIFIED") : "NOT VERIFIED",
    ...(isOpen ? uncovered : {}),
    Reason: reason,
    Because: tellStory(report),
    ...tellNotedAlarms(report),
    Changed: first(10, changesOf(report).map(describeChange)),
  });
  for (const signature of signatures.slice(0, 5)) await output.fields(fieldsOfSignature(signature, report));
  await output.fields({
    Signature: signatures.length > 5 ? restOf(signatures.length, 5) : undefined,
    Profile: profile,
    Coverage: describeCoverage(report),
    ...(isOpen ? {} : uncovered),
    ...claimFields(report),
    Trust: describeTrust(report),
    Memory: describeMemory(report),
    Digest: sha256 && `SHA-256 ${sha256}`,
    Checked: `${time}, by ${describePolicy(policy)}`,
    Next: nextStep(report),
  });
}

/** What a verified card proves, and what not: undefined when nothing was proved. */
export function describeTrust(report: VerdictReport): string | undefined {
  const { signatures, source, policy, proof } = report;
  const { host = "a host", origin = "" } = URL.parse(proof?.keySource ?? "") ?? {};
  switch (proof?.basis) {
    case "given-key": {
      const given = signatures.filter(({ valid, keySource }) => valid && keySource === "trusted");
      const names = given.flatMap(({ thumbprint = "" }) => policy.keys.nameOf(thumbprint) ?? []);
      const list = [...new Set(names)].join(", ");
      return `the owner of a key that you gave signed this card${list && ` (${list})`}`;
    }
    case "own-origin": {
      const { protocol = "", hostname = "" } = URL.parse(source.url ?? "") ?? {};
      const isExposed = protocol === "http:" && !isLoopbackHost(hostname);
      const others = isExposed ? ", or an attacker on the network (there is no TLS)," : "";
      return `the key is from the card's own origin, so this proves only that the operator of ${origin}${others} signed the card; to pin the signer, give its key with --key`;
    }
    case "named-host":
      return `the key is from ${host}, which you trust to say who signs (--jwks-host)`;
    case undefined:
      return undefined;
  }
}

function describeSubject({ signatures, source }: VerdictReport): string {
  const { name, version } = readSubject(source.text);
  if (name === undefined) return "the card's name cannot be read";
  const called = version === undefined ? quote(name) : `${quote(name)}, version ${quote(version)}`;
  return signatures.some(({ valid }) => valid) ? called : `${called} (not verified)`;
}

/** Kinds of alarms that are worth knowing, and no reason to be alarmed. */
const noted = /^(?:first-use|not-remembered):/;

function tellNotedAlarms(report: VerdictReport): Fields {
  const alarms = first(
    10,
    tellAlarms(report).map(({ kind, text, paths }) => {
      const where = paths.length === 0 ? "" : ` (${quoteList(paths)})`;
      return `${kind}: ${text}${where}`;
    }),
  );
  return {
    Alarm: alarms.filter((alarm) => !noted.test(alarm)),
    Note: alarms.filter((alarm) => noted.test(alarm)),
  };
}

function describeChange({ path, was, is }: CardChange): string {
  const show = (value: unknown): string => {
    const text = JSON.stringify(value) ?? "not there";
    return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text;
  };
  return `${inline(path)}: was ${show(was)}, is ${show(is)}`;
}

function fieldsOfSignature(signature: SignatureReport, report: VerdictReport): Fields {
  const { index, valid, profile, thumbprint, keySource, fault, problem, tried, expires } = signature;
  const { kid, alg, typ, jku } = signature;
  const { keys } = report.policy;
  const count = report.signatures.length;
  const members = Object.entries({ kid, alg, typ, jku }).map(([name, value]) =>
    value === undefined ? `no ${name}` : `${name} ${quote(value)}`,
  );
  const given = keys.nameOf(thumbprint ?? "") ?? "the keys that you gave";
  const from = keySource === "trusted" ? given : keySource;
  const until = expires === undefined ? "" : `, counts until ${expires}`;
  // Of the only signature the whole story tells it already.
  const isTold = count === 1 || tellStory(report).includes(problem ?? "");
  return {
    Signature: `${index + 1} of ${count}, ${valid ? `valid (${profile})` : `NOT VALID (${fault})`}`,
    Header: members.join(", "),
    Key: thumbprint && `thumbprint ${thumbprint}, from ${from}${until}`,
    "Key Tried": tried
      .slice(0, 3)
      .map((key) => `thumbprint ${key}, from ${keys.nameOf(key) ?? "its key set"}`),
    Problem: isTold ? undefined : problem,
  };
}

function describeCoverage({
  verification: { profile, uncovered, alarms },
}: VerdictReport): string | undefined {
  if (profile === undefined) return undefined;
  const covered =
    uncovered.length === 0
      ? "everything in the card except its signatures"
      : `${uncovered.length} field${uncovered.length === 1 ? " is" : "s are"} NOT protected`;
  const mayLack = alarms.some(({ kind }) => kind === "removable");
  return mayLack ? `${covered}; empty members may have been removed` : covered;
}

/** Where callers go and what they are asked for first. */
function listUncovered({ verification: { profile, uncovered } }: VerdictReport): readonly string[] {
  if (profile === undefined) return [];
  const isFirst = (path: string) => /^(?:supported_?interfaces|security|skills\[\d+\]\.security)/i.test(path);
  return uncovered.toSorted((one, other) => Number(isFirst(other)) - Number(isFirst(one))).map(inline);
}

function describeMemory({ verification: { verified }, known }: VerdictReport): string | undefined {
  if (known === undefined) return undefined;
  const { file, key, remembered } = known;
  if (key === undefined) return `${file}: nothing was remembered, because the card did not come from a URL`;
  const refused = verified ? "" : "; this card was not remembered, because it is refused";
  if (remembered === undefined) {
    return `${file}: ${key} ${verified ? "is known from now on" : `is not known${refused}`}`;
  }
  const { firstSeen, lastSeen, thumbprints } = remembered;
  const keys = thumbprints.slice(0, 3).join(", ");
  return `${file}: ${key} is known since ${firstSeen}, last seen ${lastSeen}, by the key with thumbprint ${keys}${refused}`;
}

function describePolicy(policy: AppliedPolicy): string {
  const { keys, keySets, profiles, allowUncovered, minSigners, requireSecurity } = policy;
  const given =
    keys.names.length === 0 ? [] : [`key${keys.names.length === 1 ? "" : "s"} ${keys.names.join(", ")}`];
  const asked =
    keySets === "own-origin"
      ? "the key set of the card's own origin"
      : `key sets of ${[keySets].flat().join(", ")}`;
  return [
    [...given, ...(keySets === "none" ? [] : [asked])].join(" and "),
    `profile ${["strict", ...profiles].join(", ")}${allowUncovered ? " (gaps allowed)" : ""}`,
    ...(minSigners === 1 ? [] : [`${minSigners} signers`]),
    ...(requireSecurity ? ["security required"] : []),
  ].join("; ");
}

const askOperator =
  "ask the operator to sign the card as the specification says (a2a card sign), or compare the card with a copy that the operator gave you through a separate channel";
const doctor = "run a2a doctor: it says what the server sends instead of a card";

/** The options and commands that lead on, where the verdict's own message does not say it all. */
const steps: Readonly<Partial<Record<CardFault, string | ((report: VerdictReport) => string)>>> = {
  "not-json": doctor,
  "not-an-object": doctor,
  "card-invalid": "a2a card get --validate lists what is wrong with the card",
  "no-signature": "ask the operator of the agent to sign the card (a2a card sign)",
  "key-unknown":
    "get the signer's public key from a source you trust, not from the card's server, and give it with --key. Without --key, a2a fetches the key set that the signature names from the card's own origin, or from the host that you trust to say who signs (--jwks-host)",
  "jku-not-allowed":
    "give the signer's public key with --key; or, if you trust the host of its jku to say who signs every card, name it with --jwks-host",
  "jwks-unavailable": ({ lostKeySets: [lost] }) =>
    `${lost?.fix ?? "try again"} Or give the signer's public key with --key`,
  "signature-mismatch":
    "to see what was changed, compare the digest, or the output of a2a card canonical, with that of the card that the operator signed",
  uncovered: askOperator,
  "too-few-signers": "give the keys of the other signers with --key",
  "security-too-weak":
    "without --require-security, a2a accepts this card; if you use the card, send the agent nothing confidential",
  "pin-changed": (report) =>
    `ask the operator, through a separate channel, whether the keys have changed; only if they have, run ${forgetCommand(report)}, and verify again with the new key (--key alone does not help: the memory still has the old keys)`,
  downgrade: (report) =>
    `ask the operator, through a separate channel, whether this change is meant; only if it is, run ${forgetCommand(report)}, and verify again`,
};

/** What to do about a card that is not verified, in a sentence; undefined when there is nothing to be done. */
function nextStep(report: VerdictReport): string | undefined {
  const { reason } = report.verification;
  const step = reason && steps[reason];
  return typeof step === "function" ? step(report) : step;
}

function forgetCommand({ source: { asked = "" }, known }: VerdictReport): string {
  return ["a2a card forget", ...[asked, "--memory", known?.file ?? ""].map(shellQuote)].join(" ");
}
