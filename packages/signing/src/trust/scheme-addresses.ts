import { formatFieldPath } from "@a2a-connect/core";
import type { JsonObject } from "@bufbuild/protobuf";
import type { CardSecurity } from "./card-security.ts";
import type { DeclaredScheme } from "./declared-scheme.ts";
import { isExposed, readEndpoint } from "./endpoint.ts";
import { quote, type SecurityFinding } from "./finding.ts";
import { objectOf, textOf } from "./json-access.ts";

type Addressed = Pick<CardSecurity, "interfaces" | "schemes">;

/**
 * Addresses of schemes that are on a host where they were not, or without TLS: there a client sends people, codes, secrets and
 * refresh tokens. A scheme that was there before stays where it was; one that is new, or had no addresses, may be wherever an
 * interface or a scheme was.
 */
export function findOtherAddresses(before: Addressed, after: Addressed): SecurityFinding[] {
  const anywhere = placesOfCard(before);
  return [...after.schemes].flatMap(([name, scheme]) => {
    const own = placesOfScheme(before.schemes.get(name));
    return findAddresses(name, scheme).flatMap((address) => {
      const places = own.get(address.member) ?? own.get(anyMember) ?? anywhere;
      return findOtherAddress(address, places);
    });
  });
}

function findOtherAddress({ subject, url, path }: SchemeAddress, places: Places): SecurityFinding[] {
  const endpoint = readEndpoint(url);
  const findings: SecurityFinding[] = [];
  if (!places.hostnames.has(endpoint.hostname)) {
    findings.push({ text: `${subject} is on another host, ${quote(endpoint.hostname)}.`, path });
  }
  if (isExposed(endpoint) && !places.exposed.has(endpoint.hostname)) {
    findings.push({ text: `${subject} is reached without TLS, at ${quote(url)}.`, path });
  }
  return findings;
}

/** Where some addresses were. */
interface Places {
  readonly hostnames: Set<string>;
  /** Those of them that were reached without TLS. */
  readonly exposed: Set<string>;
}

const anyMember: unique symbol = Symbol("any member");

/** By the name of a member. One that was not there before may be where the scheme had another one. */
function placesOfScheme(
  scheme: DeclaredScheme | undefined,
): ReadonlyMap<SchemeAddress["member"] | typeof anyMember, Places> {
  const places = new Map<SchemeAddress["member"] | typeof anyMember, Places>();
  for (const { member, url } of scheme === undefined ? [] : findAddresses("", scheme)) {
    for (const key of [member, anyMember] as const) {
      const known = places.get(key) ?? noPlaces();
      places.set(key, known);
      addPlace(known, url);
    }
  }
  return places;
}

/** That an interface can do without TLS is no reason for tokens to be had without. */
function placesOfCard({ interfaces, schemes }: Addressed): Places {
  const places = noPlaces();
  for (const { url } of interfaces) {
    places.hostnames.add(readEndpoint(url).hostname);
  }
  for (const [name, scheme] of schemes) {
    for (const { url } of findAddresses(name, scheme)) {
      addPlace(places, url);
    }
  }
  return places;
}

function noPlaces(): Places {
  return { hostnames: new Set(), exposed: new Set() };
}

function addPlace({ hostnames, exposed }: Places, url: string): void {
  const endpoint = readEndpoint(url);
  hostnames.add(endpoint.hostname);
  if (isExposed(endpoint)) {
    exposed.add(endpoint.hostname);
  }
}

/** An address that a client of a scheme talks to, or sends people to. */
export interface SchemeAddress {
  readonly member: (typeof addressMembers)[number];
  readonly url: string;
  /** What it is, as a sentence begins. */
  readonly subject: string;
  /** Path within the card. */
  readonly path: string;
}

/** Members of schemes and flows that are addresses. */
const addressMembers = [
  "authorizationUrl",
  "deviceAuthorizationUrl",
  "tokenUrl",
  "refreshUrl",
  "oauth2MetadataUrl",
  "openIdConnectUrl",
] as const;

/** All addresses of a scheme that is of a known kind. */
export function findAddresses(name: string, { kind, content }: DeclaredScheme): SchemeAddress[] {
  if (kind === undefined) {
    return [];
  }
  const flows = Object.entries(objectOf(content["flows"]));
  return [
    ...addressesIn(content, name, [kind]),
    ...flows.flatMap(([flow, members]) => addressesIn(objectOf(members), name, [kind, "flows", flow])),
  ];
}

function addressesIn(object: JsonObject, name: string, below: readonly string[]): SchemeAddress[] {
  return addressMembers
    .map((member) => ({ member, url: textOf(object[member]) }))
    .filter(({ url }) => url !== "")
    .map(({ member, url }) => ({
      member,
      url,
      subject: `The ${member} of the security scheme ${quote(name)}`,
      path: formatFieldPath(["securitySchemes", name, ...below, member]),
    }));
}
