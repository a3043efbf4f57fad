import { type Finding, finding, quote, quoteList } from "../verify/verdict.ts";
import { type Address, onOtherHost, withoutTls } from "./address.ts";
import type { Outline, OutlinedInterface, Requirement } from "./outline.ts";
import { addressesOf, allRequirements, countParts, namesIn } from "./outline.ts";
import { type Scheme, undeclaredScheme } from "./scheme.ts";

/** Parts that a card may have to be compared (`countParts`): rules compare each with each. */
const maxParts = 1_000;

/**
 * In what a card is weaker than one before, by each of the rules. What has too many parts to be compared counts as weaker.
 *
 * Who has signed is for pins and `minSigners`. What a card can do, which skills it has, and how it describes itself is not looked
 * at. What stays on its host is for `findMoves` to say: a host is its name, without a port.
 *
 * @param extended whether `after` is the agent's extended card, and `before` its public one. An extended card may declare fewer
 *   schemes, demand less, and have other skills: that is for who is signed in. Default false
 */
export function findDowngrades(before: Outline, after: Outline, extended = false): Finding[] {
  if (Math.max(countParts(before), countParts(after)) > maxParts) {
    const text = "The card differs from the last one, and one of the two declares too much to be compared.";
    return [finding(text)];
  }
  const ofAny = [findWeakerSchemes, findOtherAddresses, findOtherInterfaces];
  const rules = extended ? ofAny : [findWeakerRequirements, findLostSchemes, ...ofAny];
  return rules.flatMap((find) => [...find(before, after)]);
}

/**
 * What callers need not present any more. Requirements are alternatives, each of which may demand several schemes together
 * (requirement L-9): an alternative may be dropped, or demand more, but there must not be a new one that demands less than each
 * of the old ones. A skill without requirements has those of its card; a skill that is new is weaker than nothing.
 */
function* findWeakerRequirements(before: Outline, after: Outline): Generator<Finding> {
  const member = "securityRequirements";
  function* compare(
    was: readonly Requirement[],
    is: readonly Requirement[],
    opening: string,
    ...path: readonly (string | number)[]
  ): Generator<Finding> {
    if (is.length === 0) yield finding(`${opening}The agent no longer asks for credentials.`, ...path);
    const demandsLess = (now: Requirement) =>
      !was.some((old) => demandsAtLeast(now, old, before.schemes, after.schemes));
    const index = is.findIndex(demandsLess); // the first will do
    const names = [...(is[index]?.keys() ?? [])];
    const how = names.length === 0 ? "without credentials" : `with less than before: ${quoteList(names)}`;
    if (index >= 0) yield finding(`${opening}Callers are let in ${how}.`, ...path, index);
  }
  if (!isOpen(before.requirements)) yield* compare(before.requirements, after.requirements, "", member);
  const inheriting = new Set<string>(); // skills with the card's requirements: a card may repeat one a thousand times
  for (const [index, { id, requirements }] of after.skills.entries()) {
    if (requirements.length === 0 && inheriting.has(id)) continue;
    if (requirements.length === 0) inheriting.add(id);
    const own = before.skills.filter((skill) => skill.id === id).map((skill) => skill.requirements);
    const was = [...new Set(own.map((each) => (each.length === 0 ? before.requirements : each)))];
    const isOfCard = [...own, requirements].every(({ length }) => length === 0);
    if (own.length === 0 || isOfCard || was.some(isOpen)) continue;
    const now = requirements.length === 0 ? after.requirements : requirements;
    yield* compare(was.flat(), now, `For the skill ${quote(id)}: `, "skills", index, member);
  }
}

/** Whether callers get in without credentials. */
function isOpen(requirements: readonly Requirement[]): boolean {
  return requirements.length === 0 || requirements.some(({ size }) => size === 0);
}

type Schemes = Outline["schemes"];

/** Whether callers who meet one requirement have met another before. A scheme that is new may stand for one that is gone. */
function demandsAtLeast(now: Requirement, was: Requirement, before: Schemes, after: Schemes): boolean {
  const unused = new Set([...now.keys()].filter((name) => !was.has(name)));
  return [...was].every(([name, scopes]) => {
    const demanded = now.get(name);
    if (demanded !== undefined) return isWithin(scopes, demanded);
    const gone = before.get(name) ?? undeclaredScheme;
    const found = [...unused].find((other) => {
      const scheme = after.get(other) ?? undeclaredScheme;
      const hasScopes = scheme.kind === "mtlsSecurityScheme" || isWithin(scopes, now.get(other));
      return hasScopes && replaces(scheme, gone);
    });
    return found !== undefined && unused.delete(found);
  });
}

function isWithin(names: ReadonlySet<string>, others: ReadonlySet<string> = new Set()): boolean {
  return names.size <= others.size && [...names].every((name) => others.has(name));
}

/** Whether a scheme of another name is the same, or a stronger one. */
function replaces(scheme: Scheme, gone: Scheme): boolean {
  return scheme.strength > gone.strength || (scheme.kind !== undefined && scheme.identity === gone.identity);
}

/**
 * Schemes that are gone though callers are still asked for them, or though nothing is left that is as good: the same under another
 * name, one as strong that was there before, or a stronger one.
 */
function* findLostSchemes(before: Outline, after: Outline): Generator<Finding> {
  const named = namesIn(allRequirements(after));
  for (const [name, was] of before.schemes) {
    const isAsGood = ([other, is]: readonly [string, Scheme]) =>
      replaces(is, was) || (before.schemes.has(other) && is.strength >= was.strength);
    if (after.schemes.has(name) || (!named.has(name) && [...after.schemes].some(isAsGood))) continue;
    const text = `The security scheme ${quote(name)} is gone, and no other scheme makes up for it.`;
    yield finding(text, "securitySchemes", name);
  }
}

function* findWeakerSchemes(before: Outline, after: Outline): Generator<Finding> {
  for (const [name, was] of before.schemes) {
    const is = after.schemes.get(name);
    if (is === undefined) continue;
    const [subject, path] = [`The security scheme ${quote(name)}`, ["securitySchemes", name]] as const;
    if (is.strength < was.strength) yield finding(`${subject} is of a weaker kind.`, ...path);
    const hasOpenCodes = !isWithin(is.openCodes, was.openCodes);
    if (was.demandsPkce && hasOpenCodes) yield finding(`${subject} no longer demands PKCE.`, ...path);
  }
}

/**
 * Addresses of schemes that are on a host where they were not, or without TLS: there a client sends people, codes, secrets and
 * refresh tokens. A scheme that was there before stays where it was, and a member that it did not have may be where the others
 * were; a scheme that is new, or had no addresses, may be wherever an interface or a scheme was.
 */
function* findOtherAddresses(before: Outline, after: Outline): Generator<Finding> {
  const all = addressesOf(before);
  for (const [name, { addresses }] of after.schemes) {
    const own = before.schemes.get(name)?.addresses ?? [];
    for (const address of addresses) {
      const same = own.filter(({ member }) => member === address.member);
      const known = same.length > 0 ? same : own.length > 0 ? own : all;
      const onHost = known.filter((each) => isOnHostOf(each, address));
      const isNew = own.length === 0;
      const isKnown =
        onHost.length > 0 || (isNew && before.interfaces.some((each) => isOnHostOf(each, address)));
      if (!isKnown) yield onOtherHost(address);
      // That an interface can do without TLS is no reason for tokens to be had without.
      if (address.isExposed && !onHost.some(({ isExposed }) => isExposed)) yield withoutTls(address);
    }
  }
}

/**
 * Interfaces on a host that had none, and interfaces that clients may take now in place of a better one: without TLS where there
 * was TLS, or of a lower protocol version (requirement L-3). That interfaces are gone is no weakness.
 */
function* findOtherInterfaces(before: Outline, after: Outline): Generator<Finding> {
  const [wasFirst, isFirst] = [firstByWish(before), firstByWish(after)];
  for (const [index, is] of after.interfaces.entries()) {
    const onHost = before.interfaces.filter((was) => isOnHostOf(was, is));
    const wasExposed = onHost.some((was) => was.isExposed && wayOf(was) === wayOf(is));
    const hadTls = onHost.length === 0 || (!wasExposed && onHost.some(({ isExposed }) => !isExposed));
    const wishes = wishesOf(is).filter((wish) => isFirst.get(wish) === is);
    const replaced = wishes.flatMap((wish) => wasFirst.get(wish) ?? []);
    const replacesTls = replaced.some(({ isExposed }) => !isExposed);
    if (onHost.length === 0) yield onOtherHost(is);
    if (is.isExposed && (hadTls || replacesTls)) yield withoutTls(is);
    if (replaced.some(({ release }) => is.release < release)) {
      const text = `An interface has a lower protocol version, ${quote(is.version)}.`;
      yield finding(text, "supportedInterfaces", index, "protocolVersion");
    }
  }
}

function isOnHostOf(one: Address, other: Address): boolean {
  return one.hostname === other.hostname;
}

/** The same for interfaces of one binding and version. */
function wayOf({ binding, release }: OutlinedInterface): string {
  return JSON.stringify([binding, release]);
}

/** What clients that may take an interface look for: any, one of some version, of some binding, or of both. They take the first. */
function wishesOf(each: OutlinedInterface): readonly string[] {
  return ["any", `version ${each.release}`, `binding ${each.binding}`, wayOf(each)];
}

function firstByWish({ interfaces }: Outline): ReadonlyMap<string, OutlinedInterface> {
  const fromLast = interfaces.toReversed();
  return new Map(fromLast.flatMap((each) => wishesOf(each).map((wish) => [wish, each] as const)));
}

/**
 * What may be in order, but lets a card be that of another agent, or an older one, though it is no weaker: another name, a lower
 * version, and interfaces and addresses of schemes that are on a known host, but at a port, path or tenant where none was. Several
 * agents may share a host, and tenants an identity provider. Other hosts are for `findDowngrades` to say.
 */
export function findMoves(was: Outline, is: Outline): Finding[] {
  const renamed = `The card is called ${quote(is.name)}, no longer ${quote(was.name)}.`;
  const older = `The card has version ${quote(is.version)}, no longer ${quote(was.version)}.`;
  return [
    ...findMoved(was.interfaces, was.interfaces, is.interfaces),
    ...findMoved(addressesOf(was), [...addressesOf(was), ...was.interfaces], addressesOf(is)),
    ...(was.name === is.name ? [] : [finding(renamed, "name")]),
    ...(isOlder(is.version, was.version) ? [finding(older, "version")] : []),
  ];
}

/** @param onHosts addresses that name the known hosts */
function findMoved(
  known: readonly Address[],
  onHosts: readonly Address[],
  after: readonly Address[],
): readonly Finding[] {
  const places = new Set(known.map(({ place }) => place));
  const hostnames = new Set(onHosts.map(({ hostname }) => hostname));
  return after
    .filter(({ place, hostname }) => !places.has(place) && hostnames.has(hostname))
    .map(({ subject, url, path }) => {
      return { text: `${subject} is in a place where none was before, at ${quote(url)}.`, paths: [path] };
    });
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
