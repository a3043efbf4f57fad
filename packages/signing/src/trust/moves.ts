import type { JsonObject } from "@bufbuild/protobuf";
import type { Address } from "./address.ts";
import { quote, type SecurityFinding } from "./finding.ts";
import { addressesOf, readOutline } from "./outline.ts";

/**
 * What may be in order, but lets a card be that of another agent, or an older one, though it is no weaker: another name, a lower
 * version, and interfaces and addresses of schemes that are on a known host, but at a port, path or tenant where none was. Several
 * agents may share a host, and tenants an identity provider. Other hosts are for `findDowngrades` to say.
 *
 * @param before canonical JSON, as `after`. Total: what is not as it should be declares nothing.
 */
export function findMoves(before: JsonObject, after: JsonObject): SecurityFinding[] {
  const [was, is] = [readOutline(before), readOutline(after)];
  const renamed = `The card is called ${quote(is.name)}, no longer ${quote(was.name)}.`;
  const older = `The card is of version ${quote(is.version)}, no longer of ${quote(was.version)}.`;
  return [
    ...findMoved(was.interfaces, was.interfaces, is.interfaces),
    ...findMoved(addressesOf(was), [...addressesOf(was), ...was.interfaces], addressesOf(is)),
    ...(was.name === is.name ? [] : [{ text: renamed, path: "name" }]),
    ...(isOlder(is.version, was.version) ? [{ text: older, path: "version" }] : []),
  ];
}

/** @param onHosts addresses that name the known hosts */
function findMoved(
  known: readonly Address[],
  onHosts: readonly Address[],
  after: readonly Address[],
): readonly SecurityFinding[] {
  const places = new Set(known.map(({ place }) => place));
  const hostnames = new Set(onHosts.map(({ hostname }) => hostname));
  return after
    .filter(({ place, hostname }) => !places.has(place) && hostnames.has(hostname))
    .map(({ subject, url, path }) => ({
      text: `${subject} is where none was before, at ${quote(url)}.`,
      path,
    }));
}

function isOlder(version: string, than: string): boolean {
  const [one, other] = [readNumbers(version), readNumbers(than)];
  const differing = other.findIndex((number, index) => number !== one[index]);
  return (one[differing] ?? 0) < (other[differing] ?? 0);
}

/** Numbers of a version, of which what comes before the release (`-rc.1`) is the last. Empty when it has none. */
function readNumbers(version: string): readonly number[] {
  const [, numbers, prerelease] = /^v?(\d{1,9}(?:\.\d{1,9}){0,3})(?![\d.])(-)?/i.exec(version) ?? [];
  if (numbers === undefined) return [];
  const [major = 0, minor = 0, patch = 0, more = 0] = numbers.split(".").map(Number);
  return [major, minor, patch, more, prerelease === undefined ? 0 : -1];
}
