import { formatFieldPath } from "@a2a-connect/core";
import type { DeclaredInterface } from "./card-security.ts";
import { isExposed, readEndpoint } from "./endpoint.ts";
import { quote, type SecurityFinding } from "./finding.ts";
import { compareVersions, highestVersion, readVersion } from "./protocol-version.ts";

type Interfaces = readonly DeclaredInterface[];

/**
 * What is weaker about interfaces: one on a host that had none, one without TLS that had it, a protocol version below the one that
 * its binding had; or one that is without TLS or of a lower version, though it is not new, comes first now, where clients take it
 * (requirement L-3). That interfaces are gone is no weakness.
 */
export function findWeakerInterfaces(before: Interfaces, after: Interfaces): SecurityFinding[] {
  return [...findOtherPlaces(before, after), ...findLowerVersions(before, after)];
}

/** How the interfaces of a host were reached. */
interface KnownHost {
  /** Whether one of them was reached with TLS. */
  secured: boolean;
  /** In which ways they were reached without. */
  readonly exposed: Set<string>;
}

function findOtherPlaces(before: Interfaces, after: Interfaces): SecurityFinding[] {
  const hosts = readHosts(before);
  const preferred = findPreferredExposed(before, after);
  return after.flatMap((each, index) => {
    const path = formatFieldPath(["supportedInterfaces", index, "url"]);
    const endpoint = readEndpoint(each.url);
    const host = hosts.get(endpoint.hostname);
    const findings: SecurityFinding[] = [];
    if (host === undefined) {
      findings.push({ text: `An interface is on another host, ${quote(endpoint.hostname)}.`, path });
    }
    if (isExposed(endpoint) && (host === undefined || (host.secured && !host.exposed.has(wayOf(each))))) {
      findings.push({ text: `An interface is reached without TLS, at ${quote(each.url)}.`, path });
    } else if (preferred.has(index)) {
      const text = `The interface that comes first is reached without TLS, at ${quote(each.url)}.`;
      findings.push({ text, path });
    }
    return findings;
  });
}

function readHosts(interfaces: Interfaces): ReadonlyMap<string, KnownHost> {
  const hosts = new Map<string, KnownHost>();
  for (const each of interfaces) {
    const endpoint = readEndpoint(each.url);
    const host = hosts.get(endpoint.hostname) ?? { secured: false, exposed: new Set() };
    hosts.set(endpoint.hostname, host);
    if (isExposed(endpoint)) {
      host.exposed.add(wayOf(each));
    } else {
      host.secured = true;
    }
  }
  return hosts;
}

/** The same for interfaces of one binding and version. */
function wayOf({ binding, version }: DeclaredInterface): string {
  return JSON.stringify([binding, ...readVersion(version)]);
}

/** Places of interfaces that come first without TLS, where one with TLS came first. */
function findPreferredExposed(before: Interfaces, after: Interfaces): ReadonlySet<number> {
  const firstBefore = firstByWish(before);
  const found = new Set<number>();
  for (const [wish, index] of firstByWish(after)) {
    const was = before[firstBefore.get(wish) ?? -1];
    const is = after[index];
    if (was !== undefined && is !== undefined && !isExposedAt(was) && isExposedAt(is)) {
      found.add(index);
    }
  }
  return found;
}

function isExposedAt({ url }: DeclaredInterface): boolean {
  return isExposed(readEndpoint(url));
}

/** The place of what comes first for each client: one that takes all there are, one of some version, one of some binding. */
function firstByWish(interfaces: Interfaces): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const [index, each] of interfaces.entries()) {
    const version = readVersion(each.version).join(".");
    for (const wish of ["any", `version ${version}`, `binding ${each.binding}`, wayOf(each)]) {
      if (!first.has(wish)) {
        first.set(wish, index);
      }
    }
  }
  return first;
}

/** A binding that is new may be of any version, as long as it does not come first and the card as a whole is not of a lower one. */
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
  const [wholeBefore, wholeAfter] = [
    highestVersion(highestBefore.values()),
    highestVersion(highestAfter.values()),
  ];
  if (findings.length === 0 && after.length > 0 && compareVersions(wholeAfter, wholeBefore) < 0) {
    const text = `The highest protocol version is ${quote(wholeAfter)}, no longer ${quote(wholeBefore)}.`;
    findings.push({ text, path });
  }
  return findings.length > 0 ? findings : findLowerFirst(before, after);
}

/** For clients that speak several versions, and take what comes first. */
function findLowerFirst(before: Interfaces, after: Interfaces): SecurityFinding[] {
  const firstBefore = firstByWish(before);
  const places = new Map<number, string>();
  for (const [wish, index] of firstByWish(after)) {
    const was = before[firstBefore.get(wish) ?? -1]?.version;
    const is = after[index]?.version;
    if (was !== undefined && is !== undefined && compareVersions(is, was) < 0 && !places.has(index)) {
      places.set(index, was);
    }
  }
  return [...places].map(([index, was]) => ({
    text: `The interface that comes first is of protocol version ${quote(after[index]?.version ?? "")}, no longer of ${quote(was)}.`,
    path: formatFieldPath(["supportedInterfaces", index, "protocolVersion"]),
  }));
}

function highestVersions(interfaces: Interfaces): ReadonlyMap<string, string> {
  const versions = new Map<string, string>();
  for (const { binding, version } of interfaces) {
    versions.set(binding, highestVersion([versions.get(binding) ?? "", version]));
  }
  return versions;
}
