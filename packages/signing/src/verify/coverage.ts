import type { LossyProfile } from "../profiles/profile-card.ts";
import { allRequirements, namesIn, type Outline } from "../trust/outline.ts";
import { type CardAlarm, type Finding, finding, listPaths, quoteList } from "./verdict.ts";

/**
 * Why a signature is not enough by what it leaves out, or by what may be gone; undefined when that does not matter to
 * security. Its text has no full stop.
 *
 * @param uncovered paths of what stands in the card and was not signed
 */
export function findCoverageGap(
  profile: LossyProfile,
  uncovered: readonly string[],
  outline: Outline,
): Finding | undefined {
  const paths = uncovered.filter((path) => concernsSecurity(path, outline));
  if (paths.length === 0) return findRemovedSecurity(profile, outline);
  const text = `the profile ${profile} does not protect ${listPaths(paths)}: any server that passed the card on could have put it there`;
  return { text, paths };
}

/** What a card does not show any more when it was signed by a profile that loses what is empty. */
export function removableAlarms(profile: LossyProfile | undefined): readonly CardAlarm[] {
  if (profile === undefined) return [];
  const text =
    `The profile ${profile} does not sign empty values. So an attacker may have removed any empty member of this card without a ` +
    "trace, such as a security requirement without scopes.";
  return [{ kind: "removable", ...finding(text) }];
}

/** That a card declares a scheme which nothing in it demands: what is left when a requirement was lost before it was signed. */
export function unrequiredAlarms(outline: Outline): readonly CardAlarm[] {
  const named = namesIn(allRequirements(outline));
  const unnamed = [...outline.schemes.keys()].filter((name) => !named.has(name));
  if (unnamed.length === 0) return [];
  const text =
    `No requirement names the security scheme ${quoteList(unnamed)}, so no caller has to use it. Some software drops requirements ` +
    "without scopes when it signs a card: ask the operator of the agent whether that is meant.";
  return [{ kind: "unrequired-scheme", ...finding(text, "securityRequirements") }];
}

const securityPath =
  /^(?:supported_?interfaces|security_?schemes|(?:skills\[\d+\]\.)?security_?requirements)(?!\w)/i;

/** Interfaces, schemes and requirements, in either spelling. Whole skills only when there are skills with requirements of their own. */
function concernsSecurity(path: string, { skills }: Outline): boolean {
  const isSkill = /^skills(?:\[\d+\])?$/.test(path);
  return securityPath.test(path) || (isSkill && skills.some(({ requirements }) => requirements.length > 0));
}

/**
 * The trace of security that was taken out of a card whose signature does not protect what is empty: requirements without scopes,
 * empty schemes, and of some signers all schemes. Where a trace could itself be taken out, the place where it should be is one.
 */
function findRemovedSecurity(profile: LossyProfile, outline: Outline): Finding | undefined {
  const { schemes, requirements } = outline;
  const demanded = namesIn(requirements); // a skill replaces the card's requirements, and so says nothing of them
  const unnamed = [...schemes.keys()].filter((name) => !demanded.has(name));
  const undeclared = [...namesIn(allRequirements(outline))].filter((name) => !schemes.has(name));
  const lacks = [
    { path: "securityRequirements", isEmpty: requirements.length === 0, names: unnamed },
    { path: "securitySchemes", isEmpty: schemes.size === 0, names: undeclared },
  ].filter(({ isEmpty, names }) => isEmpty || names.length > 0);
  if (lacks.length === 0) return undefined;
  const places = lacks.map(({ path, names }) =>
    names.length === 0 ? path : `${path} (of ${quoteList(names)})`,
  );
  const text = `the profile ${profile} does not protect empty values, and an attacker may have removed some from ${places.join(" and ")}`;
  return { text, paths: lacks.map(({ path }) => path) };
}
