import { formatFieldPath } from "@a2a-connect/core/internal";
import type { JsonObject } from "@bufbuild/protobuf";
import { quote, type SecurityFinding } from "./finding.ts";
import { allRequirements, namesIn, type Outline, type OutlinedInterface, readOutline } from "./outline.ts";
import type { Scheme, SchemeAddress } from "./scheme.ts";
import { findWeakerRequirements } from "./weaker-requirements.ts";

/** In what a card may be weaker than one before, and whether that holds of the extended card beside the public one, too. */
const rules: readonly {
  readonly find: (before: Outline, after: Outline) => readonly SecurityFinding[];
  readonly ofExtended: boolean;
}[] = [
  { find: findWeakerRequirements, ofExtended: false },
  { find: findLostSchemes, ofExtended: false },
  { find: findWeakenedSchemes, ofExtended: true },
  { find: findOtherAddresses, ofExtended: true },
  { find: findOtherHosts, ofExtended: true },
  { find: findLowerVersions, ofExtended: true },
];

/**
 * In what a card is weaker than one before, best first by what it opens:
 *
 * - requirements: somebody gets in with less, to the agent or to one of its skills;
 * - schemes: one is gone and nothing as strong is there, or it is still demanded; one is of a weaker kind (`Scheme.strength`), no
 *   longer demands PKCE, or no longer binds tokens to their owner;
 * - addresses of schemes, of new ones, too: one is without TLS, or on a host that nothing was on;
 * - interfaces: one is on another host, without TLS, or of a lower protocol version, or one such comes first.
 *
 * Who has signed is for pins and `minSigners`. What a card can do, which skills it has, and how it describes itself is not looked
 * at. What stays on its host is for `findMoves` to say: a host is its name, without a port.
 *
 * What would take too long to be compared is a finding, too, whatever it says.
 *
 * @param before canonical JSON, as `after`. Total: what is not as it should be declares nothing.
 */
export function findDowngrades(before: JsonObject, after: JsonObject): SecurityFinding[] {
  const [was, is] = [readOutline(before), readOutline(after)];
  return rules.flatMap(({ find }) => find(was, is));
}

/**
 * In what the extended card of an agent is weaker than its public one: interfaces, and schemes that it declares, in the ways of
 * `findDowngrades`. It may declare fewer schemes, demand less, and have other skills: that is for who is signed in.
 *
 * @param publicBefore canonical JSON of the last public card, as `extended` of the extended one. Total.
 */
export function findExtendedDowngrades(publicBefore: JsonObject, extended: JsonObject): SecurityFinding[] {
  const [was, is] = [readOutline(publicBefore), readOutline(extended)];
  return rules.flatMap(({ find, ofExtended }) => (ofExtended ? find(was, is) : []));
}

/**
 * Security schemes that are gone and missed, or that callers are still asked for. One is not missed when its callers have what is
 * as good: the same under another name, one as strong that was there before, or a stronger one. Whether one less is demanded is
 * for the requirements to say.
 */
function findLostSchemes(before: Outline, after: Outline): readonly SecurityFinding[] {
  const identities = new Set<string>();
  let strongest = -1;
  for (const [name, { identity, strength }] of after.schemes) {
    identities.add(identity);
    strongest = Math.max(strongest, before.schemes.has(name) ? strength : strength - 1);
  }
  const named = namesIn(allRequirements(after));
  return [...before.schemes].flatMap(([name, { identity, strength }]) => {
    if (after.schemes.has(name)) return [];
    const isMissed = strength > strongest && !identities.has(identity);
    if (!isMissed && !named.has(name)) return [];
    const why = isMissed
      ? "and nothing as strong has taken its place"
      : "though callers are still asked for it";
    const path = formatFieldPath(["securitySchemes", name]);
    return [{ text: `The security scheme ${quote(name)} is gone, ${why}.`, path }];
  });
}

/** What may be weaker about a scheme that is still there, what is told of it, and where below its kind it stands. */
const schemeRules: readonly {
  readonly isWeaker: (was: Scheme, is: Scheme) => boolean;
  readonly tell: (was: Scheme, is: Scheme) => string;
  readonly below: readonly string[];
}[] = [
  {
    isWeaker: (was, is) => is.strength < was.strength && is.kind !== was.kind,
    tell: (was, is) => `is of a weaker kind: ${is.kind ?? "none that is known"}, no longer ${was.kind}`,
    below: [],
  },
  {
    isWeaker: (was, is) => is.strength < was.strength && is.kind === was.kind,
    tell: () => "is used in a weaker way",
    below: [],
  },
  {
    isWeaker: (was, is) => is.strength >= was.strength && was.bindsTokens && !is.bindsTokens,
    tell: () => "no longer binds tokens to their owner",
    below: [],
  },
  {
    isWeaker: (was, is) => was.demandsPkce && is.flows.has("authorizationCode") && !is.demandsPkce,
    tell: () => "no longer demands PKCE",
    below: ["flows", "authorizationCode", "pkceRequired"],
  },
  {
    // Device codes, which people type in, know no PKCE.
    isWeaker: (was, is) => was.demandsPkce && is.flows.has("deviceCode") && !was.flows.has("deviceCode"),
    tell: () => "has tokens by device code, without the PKCE that it demanded",
    below: ["flows", "deviceCode"],
  },
];

function findWeakenedSchemes(before: Outline, after: Outline): readonly SecurityFinding[] {
  return [...before.schemes].flatMap(([name, was]) => {
    const is = after.schemes.get(name);
    if (is === undefined) return [];
    const path = ["securitySchemes", name, ...(is.kind === undefined ? [] : [is.kind])];
    return schemeRules
      .filter(({ isWeaker }) => isWeaker(was, is))
      .map(({ tell, below }) => ({
        text: `The security scheme ${quote(name)} ${tell(was, is)}.`,
        path: formatFieldPath([...path, ...below]),
      }));
  });
}

/** Hosts that some addresses were on, and those of them that were reached without TLS. */
interface Hosts {
  readonly all: ReadonlySet<string>;
  readonly exposed: ReadonlySet<string>;
}

function hostsOf(addresses: readonly SchemeAddress[]): Hosts {
  const exposed = addresses.filter(({ isExposed }) => isExposed);
  return {
    all: new Set(addresses.map(({ hostname }) => hostname)),
    exposed: new Set(exposed.map(({ hostname }) => hostname)),
  };
}

/**
 * Addresses of schemes that are on a host where they were not, or without TLS: there a client sends people, codes, secrets and
 * refresh tokens. A scheme that was there before stays where it was, and a member that it did not have may be where the others
 * were; a scheme that is new, or had no addresses, may be wherever an interface or a scheme was.
 */
function findOtherAddresses(before: Outline, after: Outline): readonly SecurityFinding[] {
  const schemeHosts = hostsOf([...before.schemes.values()].flatMap(({ addresses }) => addresses));
  // That an interface can do without TLS is no reason for tokens to be had without.
  const interfaceHosts = before.interfaces.map(({ hostname }) => hostname);
  const anywhere: Hosts = { ...schemeHosts, all: new Set([...schemeHosts.all, ...interfaceHosts]) };
  return [...after.schemes].flatMap(([name, { addresses }]) => {
    const own = before.schemes.get(name)?.addresses ?? [];
    const others = own.length > 0 ? hostsOf(own) : anywhere;
    const byMember = Map.groupBy(own, ({ member }) => member);
    const hosts = new Map([...byMember].map(([member, list]) => [member, hostsOf(list)]));
    return addresses.flatMap((address) => findOtherAddress(address, hosts.get(address.member) ?? others));
  });
}

function findOtherAddress(address: SchemeAddress, { all, exposed }: Hosts): readonly SecurityFinding[] {
  const { subject, url, hostname, isExposed, path } = address;
  const isElsewhere = !all.has(hostname);
  const hasLostTls = isExposed && !exposed.has(hostname);
  return [
    ...(isElsewhere ? [{ text: `${subject} is on another host, ${quote(hostname)}.`, path }] : []),
    ...(hasLostTls ? [{ text: `${subject} is reached without TLS, at ${quote(url)}.`, path }] : []),
  ];
}

/**
 * Interfaces on a host that had none, without TLS where there was TLS, or that come first now and have none, where clients take
 * them (requirement L-3). That interfaces are gone is no weakness.
 */
function findOtherHosts(before: Outline, after: Outline): readonly SecurityFinding[] {
  const secured = new Set<string>();
  const known = new Set(before.interfaces.map(({ hostname }) => hostname));
  const exposed = new Set<string>();
  for (const each of before.interfaces) {
    if (each.isExposed) exposed.add(`${each.hostname} ${wayOf(each)}`);
    else secured.add(each.hostname);
  }
  const first = new Set<OutlinedInterface>();
  for (const [was, is] of comingFirst(before, after)) {
    if (!was.isExposed && is.isExposed) first.add(is);
  }
  return after.interfaces.flatMap((each, index) => {
    const { hostname, url } = each;
    const path = formatFieldPath(["supportedInterfaces", index, "url"]);
    const findings: SecurityFinding[] = [];
    if (!known.has(hostname)) {
      findings.push({ text: `An interface is on another host, ${quote(hostname)}.`, path });
    }
    const wasSecured = secured.has(hostname) && !exposed.has(`${hostname} ${wayOf(each)}`);
    if (each.isExposed && (!known.has(hostname) || wasSecured)) {
      findings.push({ text: `An interface is reached without TLS, at ${quote(url)}.`, path });
    } else if (first.has(each)) {
      findings.push({
        text: `The interface that comes first is reached without TLS, at ${quote(url)}.`,
        path,
      });
    }
    return findings;
  });
}

/** The same for interfaces of one binding and version. */
function wayOf({ binding, release }: OutlinedInterface): string {
  return JSON.stringify([binding, release]);
}

/** What came first, and what comes first now, for each client: one that takes all there are, one of some version or binding. */
function* comingFirst(before: Outline, after: Outline): Generator<[OutlinedInterface, OutlinedInterface]> {
  const was = firstByWish(before);
  for (const [wish, is] of firstByWish(after)) {
    const old = was.get(wish);
    if (old !== undefined) yield [old, is];
  }
}

function firstByWish({ interfaces }: Outline): ReadonlyMap<string, OutlinedInterface> {
  const first = new Map<string, OutlinedInterface>();
  for (const each of interfaces) {
    const { release, binding } = each;
    for (const wish of ["any", `version ${release}`, `binding ${binding}`, wayOf(each)]) {
      if (!first.has(wish)) first.set(wish, each);
    }
  }
  return first;
}

/**
 * Protocol versions below those that a binding had, or the card as a whole, or what comes first. A binding that is new may be of
 * any version, as long as it does not come first and the card as a whole is not of a lower one.
 */
function findLowerVersions(before: Outline, after: Outline): readonly SecurityFinding[] {
  const path = "supportedInterfaces";
  const ofBindings = [...Map.groupBy(after.interfaces, ({ binding }) => binding)];
  const bindingsBefore = Map.groupBy(before.interfaces, ({ binding }) => binding);
  const lowered = ofBindings.flatMap(([binding, interfaces]) => {
    const [was, is] = [highest(bindingsBefore.get(binding) ?? []), highest(interfaces)];
    const subject = `The binding ${quote(binding)} is of protocol version`;
    return is.release < was.release
      ? [{ text: `${subject} ${quote(is.version)}, no longer of ${quote(was.version)}.`, path }]
      : [];
  });
  if (lowered.length > 0) return lowered;
  const [was, is] = [highest(before.interfaces), highest(after.interfaces)];
  if (after.interfaces.length > 0 && is.release < was.release) {
    const text = `The highest protocol version is ${quote(is.version)}, no longer ${quote(was.version)}.`;
    return [{ text, path }];
  }
  return findLowerFirst(before, after);
}

/** For clients that speak several versions, and take what comes first. */
function findLowerFirst(before: Outline, after: Outline): readonly SecurityFinding[] {
  const found = new Map<OutlinedInterface, OutlinedInterface>();
  for (const [was, is] of comingFirst(before, after)) {
    if (is.release < was.release && !found.has(is)) found.set(is, was);
  }
  return after.interfaces.flatMap((is, index) => {
    const was = found.get(is);
    if (was === undefined) return [];
    const text = `The interface that comes first is of protocol version ${quote(is.version)}, no longer of ${quote(was.version)}.`;
    return [{ text, path: formatFieldPath(["supportedInterfaces", index, "protocolVersion"]) }];
  });
}

type Release = Pick<OutlinedInterface, "version" | "release">;

/** What is highest of some versions; none is below all that are. */
function highest(versions: readonly Release[]): Release {
  const nothing: Release = { version: "", release: -1 };
  return versions.reduce((found, each) => (each.release > found.release ? each : found), nothing);
}
