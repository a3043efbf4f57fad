import { formatFieldPath } from "@a2a-connect/core/internal";
import { addressesOf, readOutline, type Scheme } from "@a2a-connect/signing/internal";
import { defined, isObject, type LooseObject, objectOf, readObject } from "../json.ts";

/** What a signature's protected header says; undefined where it says nothing, or no text. */
export type SignatureHeader = Readonly<Partial<Record<"kid" | "alg" | "typ" | "jku", string | undefined>>>;

/**
 * The protected headers of a card's signatures, by their place, for people to see: nothing is verified here, the card need not be
 * valid, and what cannot be read says nothing.
 */
export function readSignatureHeaders(text: string): readonly SignatureHeader[] {
  const { signatures } = readObject(text);
  return Array.isArray(signatures) ? signatures.map(readHeader) : [];
}

/** What a card calls itself; undefined where it does not. */
export function readSubject(text: string): { readonly name?: string; readonly version?: string } {
  const { name, version } = readObject(text);
  return defined({ name: textOrNone(name) || undefined, version: textOrNone(version) || undefined });
}

function readHeader(signature: unknown): SignatureHeader {
  const encoded = textOrNone(objectOf(signature)["protected"]) ?? "";
  const json = Buffer.from(encoded, "base64url").toString("utf8");
  const { kid, alg, typ, jku } = readObject(json);
  return { kid: textOrNone(kid), alg: textOrNone(alg), typ: textOrNone(typ), jku: textOrNone(jku) };
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** What a card says about where callers go and what they are asked for: what its signature vouches for, or what it only claims. */
export interface CardClaims {
  /** Hosts of its interfaces, with ports; of what is no URL the address itself. Each once. */
  readonly interfaceHosts: readonly string[];
  /** Hosts that people and credentials are sent to: token, authorization and discovery URLs. Each once. */
  readonly tokenHosts: readonly string[];
  /** What callers are asked for, in a few words for each alternative; undefined: for nothing. */
  readonly demands: readonly string[] | undefined;
  /** Skills that have requirements of their own. */
  readonly stricterSkills: number;
}

/** @param canonical canonical text, without signatures. Total: what is not as it should be claims nothing. */
export function readClaims(canonical: string): CardClaims {
  const outline = readOutline(JSON.parse(canonical));
  const { interfaces, requirements, schemes, skills } = outline;
  const describe = (demanded: Iterable<string>) =>
    [...demanded].map((name) => `${name} (${describeScheme(schemes.get(name))})`).join(" and ");
  return {
    interfaceHosts: unique(interfaces.filter(({ url }) => url !== "").map(({ url }) => hostOf(url))),
    tokenHosts: unique(addressesOf(outline).map(({ url }) => hostOf(url))),
    demands:
      requirements.length === 0
        ? undefined
        : requirements.map((requirement) => describe(requirement.keys()) || "nothing"),
    stricterSkills: skills.filter((skill) => skill.requirements.length > 0).length,
  };
}

/** The host of an address, with its port where it names one. gRPC has addresses that are no URLs. */
export function hostOf(address: string): string {
  return URL.parse(address)?.host || address;
}

const kinds: Readonly<Record<string, string>> = {
  apiKeySecurityScheme: "API key",
  httpAuthSecurityScheme: "HTTP",
  oauth2SecurityScheme: "OAuth 2",
  openIdConnectSecurityScheme: "OpenID Connect",
  mtlsSecurityScheme: "client certificate",
};

function describeScheme(scheme: Scheme | undefined): string {
  if (scheme === undefined) return "not declared";
  return [kinds[scheme.kind ?? ""] ?? "of no known kind", scheme.httpScheme].join(" ").trim();
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

/** What was and what is at one place of a card; undefined where there is nothing. */
export interface CardChange {
  readonly path: string;
  readonly was: unknown;
  readonly is: unknown;
}

/** Changes that are told, at most: more of them say no more. */
const maxChanges = 50;

/**
 * In what a card differs from the remembered one, as far as that is remembered: where callers go and what they are asked for first.
 * Both are JSON text, the first as `RememberedCard` has it.
 */
export function findChanges(remembered: string, canonical: string): readonly CardChange[] {
  const changes: CardChange[] = [];
  compare(outlineOf(readObject(remembered)), outlineOf(readObject(canonical)), [], changes);
  return changes;
}

/** Skills by their ids, so that one more in front does not change all the others. */
function outlineOf(card: LooseObject): LooseObject {
  const { supportedInterfaces, securitySchemes, securityRequirements, skills, name, version } = card;
  const byId = (Array.isArray(skills) ? skills : [])
    .map(objectOf)
    .map((skill) => [String(skill["id"]), { securityRequirements: skill["securityRequirements"] }]);
  return {
    supportedInterfaces,
    securitySchemes,
    securityRequirements,
    skills: Object.fromEntries(byId),
    name,
    version,
  };
}

/** Goes down only where both sides have something to go down into: what is gone as a whole is one change. */
function compare(was: unknown, is: unknown, path: readonly (string | number)[], changes: CardChange[]): void {
  if (changes.length === maxChanges) return;
  const isList = Array.isArray(was);
  const [before, after] = [membersOf(was), membersOf(is)];
  if (before !== undefined && after !== undefined && isList === Array.isArray(is)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(before[name], after[name], [...path, isList ? Number(name) : name], changes);
    }
  } else if (JSON.stringify(was) !== JSON.stringify(is)) {
    changes.push({ path: formatFieldPath(path), was, is });
  }
}

function membersOf(value: unknown): LooseObject | undefined {
  if (Array.isArray(value)) return { ...value };
  return isObject(value) ? value : undefined;
}
