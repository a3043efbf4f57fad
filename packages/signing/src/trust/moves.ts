import { formatFieldPath } from "@a2a-connect/core";
import type { JsonObject } from "@bufbuild/protobuf";
import { type CardSecurity, type DeclaredInterface, readCardSecurity } from "./card-security.ts";
import { readEndpoint } from "./endpoint.ts";
import { quote, type SecurityFinding } from "./finding.ts";
import { textOf } from "./json-access.ts";
import { findAddresses } from "./scheme-addresses.ts";

/**
 * What may be in order, but lets a card be that of another agent, or an older one, though it is no weaker: another name, a lower
 * version, and interfaces and addresses of schemes that are on a known host, but at a port, path or tenant where none was. Several
 * agents may share a host, and tenants an identity provider. Other hosts are for `findDowngrades` to say.
 *
 * @param before canonical JSON, as `after`. Total: what is not as it should be declares nothing.
 */
export function findMoves(before: JsonObject, after: JsonObject): SecurityFinding[] {
  const [was, is] = [readCardSecurity(before), readCardSecurity(after)];
  return [
    ...findMovedInterfaces(was.interfaces, is.interfaces),
    ...findMovedAddresses(was, is),
    ...findOtherName(textOf(before["name"]), textOf(after["name"])),
    ...findOlderVersion(textOf(before["version"]), textOf(after["version"])),
  ];
}

function findMovedInterfaces(
  before: readonly DeclaredInterface[],
  after: readonly DeclaredInterface[],
): SecurityFinding[] {
  const known = new Set(before.map(placeOf));
  const hostnames = new Set(before.map(({ url }) => readEndpoint(url).hostname));
  return after.flatMap((each, index) => {
    const { url, tenant } = each;
    if (known.has(placeOf(each)) || !hostnames.has(readEndpoint(url).hostname)) {
      return [];
    }
    const whose = tenant === "" ? "" : `, for the tenant ${quote(tenant)}`;
    const text = `An interface is where none was before, at ${quote(url)}${whose}.`;
    return [{ text, path: formatFieldPath(["supportedInterfaces", index]) }];
  });
}

function placeOf({ url, tenant }: DeclaredInterface): string {
  return JSON.stringify([readEndpoint(url).place, tenant]);
}

function findMovedAddresses(before: CardSecurity, after: CardSecurity): SecurityFinding[] {
  const known = addressesOf(before).map(({ url }) => readEndpoint(url));
  const places = new Set(known.map(({ place }) => place));
  const hostnames = new Set(
    [...known, ...before.interfaces.map(({ url }) => readEndpoint(url))].map(({ hostname }) => hostname),
  );
  return addressesOf(after).flatMap(({ subject, url, path }) => {
    const { place, hostname } = readEndpoint(url);
    return places.has(place) || !hostnames.has(hostname)
      ? []
      : [{ text: `${subject} is where none was before, at ${quote(url)}.`, path }];
  });
}

function addressesOf({ schemes }: CardSecurity) {
  return [...schemes].flatMap(([name, scheme]) => findAddresses(name, scheme));
}

function findOtherName(before: string, after: string): SecurityFinding[] {
  return before === after
    ? []
    : [{ text: `The card is called ${quote(after)}, no longer ${quote(before)}.`, path: "name" }];
}

function findOlderVersion(before: string, after: string): SecurityFinding[] {
  const [was, is] = [readNumbers(before), readNumbers(after)];
  if (was === undefined || is === undefined || !isOlder(is, was)) {
    return [];
  }
  return [
    { text: `The card is of version ${quote(after)}, no longer of ${quote(before)}.`, path: "version" },
  ];
}

/** Numbers of a version, of which what comes before the release (`-rc.1`) is the last. Undefined when it has none. */
function readNumbers(version: string): readonly number[] | undefined {
  const [, numbers, prerelease] = /^v?(\d{1,9}(?:\.\d{1,9}){0,3})(?![\d.])(-)?/i.exec(version) ?? [];
  if (numbers === undefined) {
    return undefined;
  }
  const [major = 0, minor = 0, patch = 0, more = 0] = numbers.split(".").map(Number);
  return [major, minor, patch, more, prerelease === undefined ? 0 : -1];
}

function isOlder(one: readonly number[], other: readonly number[]): boolean {
  const differing = one.findIndex((number, index) => number !== other[index]);
  return (one[differing] ?? 0) < (other[differing] ?? 0);
}
