import { formatFieldPath } from "@a2a-connect/core/internal";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Address, onOtherHost, withoutTls } from "./address.ts";
import { quote, type SecurityFinding } from "./finding.ts";
import {
  addressesOf,
  allRequirements,
  namesIn,
  type Outline,
  type OutlinedInterface,
  readOutline,
} from "./outline.ts";
import type { Scheme } from "./scheme.ts";
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
 * In what a card is weaker than one before, by each of the rules.
 *
 * Who has signed is for pins and `minSigners`. What a card can do, which skills it has, and how it describes itself is not looked
 * at. What stays on its host is for `findMoves` to say: a host is its name, without a port. What would take too long to be
 * compared is a finding, too.
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

/** What may be weaker about a scheme that is still there: what is told of it, and where it stands below its kind. */
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

function hostsOf(addresses: readonly Address[]): Hosts {
  const exposed = addresses.filter(({ isExposed }) => isExposed);
  return { all: hostnames(addresses), exposed: hostnames(exposed) };
}

function hostnames(addresses: readonly Address[]): ReadonlySet<string> {
  return new Set(addresses.map(({ hostname }) => hostname));
}

/**
 * Addresses of schemes that are on a host where they were not, or without TLS: there a client sends people, codes, secrets and
 * refresh tokens. A scheme that was there before stays where it was, and a member that it did not have may be where the others
 * were; a scheme that is new, or had no addresses, may be wherever an interface or a scheme was.
 */
function findOtherAddresses(before: Outline, after: Outline): readonly SecurityFinding[] {
  const schemeHosts = hostsOf(addressesOf(before));
  // That an interface can do without TLS is no reason for tokens to be had without.
  const all = new Set([...schemeHosts.all, ...hostnames(before.interfaces)]);
  const anywhere: Hosts = { ...schemeHosts, all };
  return [...after.schemes].flatMap(([name, { addresses }]) => {
    const own = before.schemes.get(name)?.addresses ?? [];
    const others = own.length > 0 ? hostsOf(own) : anywhere;
    const byMember = Map.groupBy(own, ({ member }) => member);
    const hosts = new Map([...byMember].map(([member, list]) => [member, hostsOf(list)]));
    return addresses.flatMap((address) => {
      const { all, exposed } = hosts.get(address.member) ?? others;
      return [
        ...(all.has(address.hostname) ? [] : [onOtherHost(address)]),
        ...(address.isExposed && !exposed.has(address.hostname) ? [withoutTls(address)] : []),
      ];
    });
  });
}

/**
 * Interfaces on a host that had none, without TLS where there was TLS, or that come first now and have none, where clients take
 * them (requirement L-3). That interfaces are gone is no weakness.
 */
function findOtherHosts(before: Outline, after: Outline): readonly SecurityFinding[] {
  const known = hostnames(before.interfaces);
  const secured = hostnames(before.interfaces.filter(({ isExposed }) => !isExposed));
  const exposed = new Set(before.interfaces.filter(({ isExposed }) => isExposed).map(placeOf));
  const pairs = comingFirst(before, after).filter(([was, is]) => !was.isExposed && is.isExposed);
  const first = new Set(pairs.map(([, is]) => is));
  return after.interfaces.flatMap((each) => {
    const isElsewhere = !known.has(each.hostname);
    const hasLostTls = isElsewhere || (secured.has(each.hostname) && !exposed.has(placeOf(each)));
    if (each.isExposed && hasLostTls) return [...(isElsewhere ? [onOtherHost(each)] : []), withoutTls(each)];
    if (isElsewhere) return [onOtherHost(each)];
    return first.has(each) ? [withoutTls({ ...each, subject: "The interface that comes first" })] : [];
  });
}

/** The same for interfaces of one host, binding and version. */
function placeOf(each: OutlinedInterface): string {
  return `${each.hostname} ${wayOf(each)}`;
}

/** The same for interfaces of one binding and version. */
function wayOf({ binding, release }: OutlinedInterface): string {
  return JSON.stringify([binding, release]);
}

type Pair = readonly [was: OutlinedInterface, is: OutlinedInterface];

/** What came first, and what comes first now, for each client: one that takes all there are, one of some version or binding. */
function comingFirst(before: Outline, after: Outline): readonly Pair[] {
  const was = firstByWish(before);
  return [...firstByWish(after)].flatMap(([wish, is]) => {
    const old = was.get(wish);
    return old === undefined ? [] : [[old, is] as const];
  });
}

function firstByWish({ interfaces }: Outline): ReadonlyMap<string, OutlinedInterface> {
  const wishes = interfaces.toReversed().flatMap((each) => {
    const { release, binding } = each;
    const all = ["any", `version ${release}`, `binding ${binding}`, wayOf(each)];
    return all.map((wish) => [wish, each] as const);
  });
  return new Map(wishes); // the last one of each stays, which is the first interface
}

/**
 * Protocol versions below those that a binding had, or the card as a whole, or what comes first. A binding that is new may be of
 * any version, as long as it does not come first and the card as a whole is not of a lower one.
 */
function findLowerVersions(before: Outline, after: Outline): readonly SecurityFinding[] {
  const path = "supportedInterfaces";
  const bindingsBefore = Map.groupBy(before.interfaces, ({ binding }) => binding);
  const lowered = [...Map.groupBy(after.interfaces, ({ binding }) => binding)].flatMap(
    ([binding, interfaces]) => {
      const [was, is] = [highest(bindingsBefore.get(binding) ?? []), highest(interfaces)];
      const text = `The binding ${quote(binding)} is of protocol version ${quote(is.version)}, no longer of ${quote(was.version)}.`;
      return is.release < was.release ? [{ text, path }] : [];
    },
  );
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
  const lower = comingFirst(before, after).filter(([was, is]) => is.release < was.release);
  const found = new Map(lower.toReversed().map(([was, is]) => [is, was])); // the first of several stays
  return after.interfaces.flatMap((is, index) => {
    const was = found.get(is);
    if (was === undefined) return [];
    const text = `The interface that comes first is of protocol version ${quote(is.version)}, no longer of ${quote(was.version)}.`;
    return [{ text, path: formatFieldPath(["supportedInterfaces", index, "protocolVersion"]) }];
  });
}

/** What is highest of some versions; none is below all that are. */
function highest(versions: readonly OutlinedInterface[]): Pick<OutlinedInterface, "version" | "release"> {
  const nothing = { version: "", release: -1 };
  return versions.reduce((found, each) => (each.release > found.release ? each : found), nothing);
}
