import { formatFieldPath } from "@a2a-connect/core";
import type { DeclaredInterface } from "./card-security.ts";
import { isExposed, readEndpoint } from "./endpoint.ts";
import { quote, type SecurityFinding } from "./finding.ts";

type Interfaces = readonly DeclaredInterface[];

/**
 * What is weaker about interfaces: one on a host that had none, one without TLS on a host that had none without, a protocol
 * version below the one that its binding had. That interfaces are gone is no weakness.
 */
export function findWeakerInterfaces(before: Interfaces, after: Interfaces): SecurityFinding[] {
  const known = new Map<string, { exposed: boolean }>();
  for (const { url } of before) {
    const endpoint = readEndpoint(url);
    const exposed = isExposed(endpoint) || known.get(endpoint.hostname)?.exposed === true;
    known.set(endpoint.hostname, { exposed });
  }
  const places = after.flatMap(({ url }, index) => findNewPlace(known, url, index));
  return [...places, ...findLowerVersions(before, after)];
}

function findNewPlace(
  known: ReadonlyMap<string, { readonly exposed: boolean }>,
  url: string,
  index: number,
): SecurityFinding[] {
  const path = formatFieldPath(["supportedInterfaces", index, "url"]);
  const endpoint = readEndpoint(url);
  const same = known.get(endpoint.hostname);
  const findings: SecurityFinding[] = [];
  if (same === undefined) {
    findings.push({ text: `An interface is on another host, ${quote(endpoint.hostname)}.`, path });
  }
  if (isExposed(endpoint) && same?.exposed !== true) {
    findings.push({ text: `An interface is reached without TLS, at ${quote(url)}.`, path });
  }
  return findings;
}

/** A binding that is new may be of any version, as long as the card as a whole is not of a lower one. */
function findLowerVersions(before: Interfaces, after: Interfaces): SecurityFinding[] {
  const path = "supportedInterfaces";
  const [highestBefore, highestAfter] = [highestVersions(before), highestVersions(after)];
  const findings: SecurityFinding[] = [];
  for (const [binding, version] of highestAfter) {
    const known = highestBefore.get(binding);
    if (known !== undefined && compareVersions(version, known) < 0) {
      const text = `The binding ${quote(binding)} is of protocol version ${quote(version)}, no longer of ${quote(known)}.`;
      findings.push({ text, path });
    }
  }
  const [wholeBefore, wholeAfter] = [highest(highestBefore.values()), highest(highestAfter.values())];
  if (findings.length === 0 && after.length > 0 && compareVersions(wholeAfter, wholeBefore) < 0) {
    const text = `The highest protocol version is ${quote(wholeAfter)}, no longer ${quote(wholeBefore)}.`;
    findings.push({ text, path });
  }
  return findings;
}

function highestVersions(interfaces: Interfaces): ReadonlyMap<string, string> {
  const versions = new Map<string, string>();
  for (const { binding, version } of interfaces) {
    versions.set(binding, highest([versions.get(binding) ?? "", version]));
  }
  return versions;
}

function highest(versions: Iterable<string>): string {
  let found = "";
  for (const version of versions) {
    if (compareVersions(version, found) > 0) {
      found = version;
    }
  }
  return found;
}

/** By major, then minor number; what is no version is below all that are. */
function compareVersions(one: string, other: string): number {
  const [[major, minor], [otherMajor, otherMinor]] = [readVersion(one), readVersion(other)];
  return major - otherMajor || minor - otherMinor;
}

function readVersion(text: string): readonly [major: number, minor: number] {
  const [, major, minor] = /^(\d{1,9})(?:\.(\d{1,9}))?(?:\.|$)/.exec(text) ?? [];
  return major === undefined ? [-1, 0] : [Number(major), Number(minor ?? 0)];
}
