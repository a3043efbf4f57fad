import type { Defect } from "@a2a-connect/conformance";
import { findFieldViolations } from "@a2a-connect/core";
import { findMissingFields, parseMediaType, parseMessage } from "@a2a-connect/core/internal";
import { createGuardedFetch } from "@a2a-connect/node";
import { type AgentCard, AgentCardSchema, type AgentSkill } from "@a2a-connect/proto";
import type { CardVerdict } from "@a2a-connect/signing";
import { findOlderCard, olderMembers } from "../card/older-card.ts";
import type { ExaminedCard } from "./card-location.ts";
import { type Finding, find, findAll } from "./findings.ts";

/**
 * What a card lacks, and what it has that no card of 1.0 has (spec §4.4), and the card as far as it can be read.
 * @param defects of its JSON by the closed schema
 * @param mayRead whether the card is read at all: one of hundreds of thousands of empty skills takes a gigabyte
 */
export function readFields(
  { json }: ExaminedCard,
  defects: readonly Defect[],
  isOlderMember: (defect: Defect) => boolean,
  mayRead: boolean,
): { readonly findings: readonly Finding[]; readonly card?: AgentCard } {
  const older = findOlderCard(json);
  if (older !== undefined) {
    const version = older.version ? [`version ${older.version}`] : [];
    return { findings: [find("card.older", [...older.members, ...version].join(", "))] };
  }
  const pathsOf = (kind: Defect["kind"]) =>
    defects.filter((each) => each.kind === kind).map(({ path }) => path);
  const missing = new Set(pathsOf("missing"));
  const unknown = pathsOf("unknown");
  const wrong = defects.flatMap(({ kind, path, problem }) =>
    kind === "value" ? [`${path} ${problem}`] : [],
  );
  const say = ({ field, description }: { readonly field: string; readonly description: string }) =>
    missing.has(field) ? [] : [`${field} ${description}`];
  let card: AgentCard | undefined;
  try {
    if (mayRead) card = parseMessage(AgentCardSchema, json);
    wrong.push(...(card === undefined ? [] : findMissingFields(AgentCardSchema, card).flatMap(say)));
  } catch (error) {
    if (wrong.length === 0) wrong.push(...findFieldViolations(error).flatMap(say));
  }
  const isForBoth =
    unknown.length > 0 && defects.filter(({ kind }) => kind === "unknown").every(isOlderMember);
  const isOlder = unknown.some((path) => olderMembers.has(path));
  const odd = isForBoth ? "card.both-versions" : isOlder ? "card.older-members" : "card.unknown-members";
  const findings = findAll({
    ...{ [odd]: unknown, "card.required": [...missing], "card.values": wrong },
    "card.whole": missing.size + wrong.length === 0,
  });
  return { findings, ...(card && { card }) };
}

/** What a card says that cannot be tried: for whom it is, and whether people and models can choose the agent by it. */
export function judgeDeclarations(card: AgentCard): Finding[] {
  const { version, skills, securitySchemes, securityRequirements, supportedInterfaces } = card;
  const declared = new Set(Object.keys(securitySchemes));
  const required = [securityRequirements, ...skills.map((skill) => skill.securityRequirements)].flat();
  const schemes = new Set(required.flatMap((each) => Object.keys(each.schemes)));
  const { defaultInputModes, defaultOutputModes } = card;
  const own = skills.flatMap(({ inputModes, outputModes }) => [...inputModes, ...outputModes]);
  const modes = new Set([...defaultInputModes, ...defaultOutputModes, ...own]);
  const wrong = [...modes].filter((mode) => parseMediaType(mode) === undefined);
  const isOlder = wrong.every((mode) => ["text", "file", "data"].includes(mode));
  const takesAnything =
    defaultInputModes.length > 0 || skills.every(({ inputModes }) => inputModes.length > 0);
  const interfaces = supportedInterfaces.map(
    (each) => `${each.protocolBinding} ${each.protocolVersion} ${each.url} ${each.tenant}`,
  );
  const flaws = findAll({
    "card.version": isPinnable(version) ? [] : [version],
    "security.undeclared": [...schemes].filter((name) => !declared.has(name)),
    "security.unused": required.length === 0 ? [...declared] : [],
    "security.open": securityRequirements.length === 0,
    "security.optional": securityRequirements.some((each) => Object.keys(each.schemes).length === 0),
    "card.repeated-interface": repeated(interfaces),
    [isOlder ? "card.older-modes" : "card.modes"]: wrong,
    "card.no-modes": takesAnything ? [] : ["defaultInputModes"],
  });
  const vague = findAll({
    "skills.none": skills.length === 0,
    "skills.ids": repeated(skills.map(({ id }) => id)),
    "card.description": isVague(card) ? [card.description] : [],
    "skills.description": idsOf(skills.filter(isVague)),
    "skills.examples": idsOf(skills.filter(({ examples }) => examples.length === 0)),
    "skills.tags": idsOf(skills.filter(({ tags }) => tags.length === 0)),
  });
  return [...flaws, ...(vague.length > 0 ? vague : [find("skills.described", idsOf(skills).join(", "))])];
}

/** Whether callers can pin a version by a range. */
export function isPinnable(version: string): boolean {
  return /^v?\d+\.\d+(\.\d+)?([-+].*)?$/.test(version) && !/^v?0\.0\.0/.test(version);
}

/** Shortest description that tells a model when to choose a skill, in characters. */
const shortestDescription = 40;

/** Whether a description says hardly more than the name. */
function isVague({ description, name }: Pick<AgentSkill, "description" | "name">): boolean {
  return description.trim().length < shortestDescription || description.trim() === name.trim();
}

function idsOf(skills: readonly AgentSkill[]): string[] {
  return skills.map(({ id }) => id);
}

function repeated(keys: readonly string[]): string[] {
  const seen = new Set<string>();
  const twice = keys.filter((key) => seen.size === seen.add(key).size);
  return [...new Set(twice)];
}

/**
 * Whether the card is signed, and by the right key. A card without signatures is in order (spec §8.4), unless a key is known.
 * @param verification what came of that key; undefined: none is known, and the key set of the card's own origin is asked
 */
export async function judgeSignatures(
  { text, url }: ExaminedCard,
  { signatures: { length } }: AgentCard,
  verification: CardVerdict | undefined,
  signal: AbortSignal,
): Promise<Finding> {
  const count = `${length} signature${length === 1 ? "" : "s"}`;
  const by = ({ alg, kid, profile }: CardVerdict) => `${count}; ${alg} by ${kid}, ${profile}`;
  const why = ({ reason, message }: CardVerdict) => `${reason}: ${message}`;
  if (verification !== undefined) {
    const { verified, uncovered } = verification;
    if (!verified) return find("card.unverified", why(verification));
    return uncovered.length === 0
      ? find("card.signed", by(verification))
      : find("card.signed-in-part", `${by(verification)}; unprotected: ${uncovered.join(", ")}`);
  }
  if (length === 0) return find("card.unsigned");
  const verdict = url === undefined ? undefined : await verifyByOwnOrigin(text, url, signal);
  if (verdict?.verified === true) return find("card.signed-by-origin", by(verdict));
  return verdict === undefined || withoutKey.has(verdict.reason)
    ? find("card.signer-unknown", `${count}, not verified`)
    : find("card.bad-signature", why(verdict));
}

/** By the key set that a card's signature names, where that is on the card's own origin. */
async function verifyByOwnOrigin(text: string, url: string, signal: AbortSignal): Promise<CardVerdict> {
  const { verifyCard } = await import("@a2a-connect/signing");
  await using guarded = createGuardedFetch({ allow: [new URL(url).host] });
  return await verifyCard(text, { trustPolicy: { jku: { fetch: guarded.fetch } }, url, signal });
}

/** Faults that say nothing about the signature, but that there is no key to try it with. */
const withoutKey: ReadonlySet<string | undefined> = new Set([
  "key-unknown",
  "jku-not-allowed",
  "jwks-unavailable",
]);
