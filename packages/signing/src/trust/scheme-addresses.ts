import { formatFieldPath } from "@a2a-connect/core";
import type { JsonObject } from "@bufbuild/protobuf";
import type { DeclaredScheme } from "./declared-scheme.ts";
import { isExposed, readEndpoint } from "./endpoint.ts";
import { quote, type SecurityFinding } from "./finding.ts";
import { objectOf, textOf } from "./json-access.ts";

/**
 * Addresses of a scheme that are on another host than they were, or without TLS: there a client sends people, codes, secrets and
 * refresh tokens. One that was not there before may be where the scheme had another one.
 */
export function findOtherAddresses(
  name: string,
  before: DeclaredScheme,
  after: DeclaredScheme,
): SecurityFinding[] {
  const known = new Map<string | typeof anyMember, Places>();
  for (const { member, url } of addressesOf(before)) {
    addPlace(known, member, url);
    addPlace(known, anyMember, url);
  }
  if (known.size === 0) {
    return []; // another kind of scheme: its strength tells
  }
  return addressesOf(after).flatMap(({ member, url, below }) => {
    const places = known.get(member) ?? known.get(anyMember);
    const endpoint = readEndpoint(url);
    const path = formatFieldPath(["securitySchemes", name, ...below]);
    const subject = `The ${member} of the security scheme ${quote(name)} is`;
    const findings: SecurityFinding[] = [];
    if (places?.hostnames.has(endpoint.hostname) !== true) {
      findings.push({ text: `${subject} on another host, ${quote(endpoint.hostname)}.`, path });
    }
    if (isExposed(endpoint) && places?.exposed !== true) {
      findings.push({ text: `${subject} reached without TLS, at ${quote(url)}.`, path });
    }
    return findings;
  });
}

const anyMember: unique symbol = Symbol("any member");

/** Where the addresses of one name were. */
interface Places {
  readonly hostnames: Set<string>;
  /** Whether one of them was reached without TLS. */
  exposed: boolean;
}

function addPlace(
  known: Map<string | typeof anyMember, Places>,
  member: string | typeof anyMember,
  url: string,
): void {
  const endpoint = readEndpoint(url);
  const places = known.get(member) ?? { hostnames: new Set(), exposed: false };
  places.hostnames.add(endpoint.hostname);
  places.exposed ||= isExposed(endpoint);
  known.set(member, places);
}

interface SchemeAddress {
  readonly member: (typeof addressMembers)[number];
  readonly url: string;
  /** Path within the scheme. */
  readonly below: readonly string[];
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

function addressesOf({ kind, content }: DeclaredScheme): SchemeAddress[] {
  if (kind === undefined) {
    return [];
  }
  const flows = Object.entries(objectOf(content["flows"]));
  return [
    ...addressesIn(content, [kind]),
    ...flows.flatMap(([flow, members]) => addressesIn(objectOf(members), [kind, "flows", flow])),
  ];
}

function addressesIn(object: JsonObject, path: readonly string[]): SchemeAddress[] {
  return addressMembers
    .map((member) => ({ member, url: textOf(object[member]), below: [...path, member] }))
    .filter(({ url }) => url !== "");
}
