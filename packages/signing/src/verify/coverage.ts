import type { JsonObject } from "@bufbuild/protobuf";
import type { Profile } from "../profiles/profile.ts";
import { shownText } from "../shown-text.ts";
import { readCardSecurity } from "../trust/card-security.ts";
import { listOf, objectOf } from "../trust/json-access.ts";
import type { TrustAlarm } from "./verification.ts";

/** What a signature leaves open that matters to security: in a sentence without a full stop, and where. */
export interface CoverageGap {
  readonly text: string;
  readonly paths: readonly string[];
}

/**
 * Why a signature is not enough by what it leaves out; undefined when that does not matter to security.
 *
 * @param uncovered paths of what stands in the card and was not signed
 * @param unsigned the card without what says nothing (`pruneUnsigned`)
 */
export function findCoverageGap(
  profile: Profile,
  uncovered: readonly string[],
  unsigned: JsonObject,
): CoverageGap | undefined {
  const paths = uncovered.filter((path) => concernsSecurity(path, unsigned));
  if (paths.length > 0) {
    const text = `the profile ${profile} does not protect ${listPaths(paths)}: whoever passed the card on could have put it there`;
    return { text, paths };
  }
  const unnamed = losesEmpties(profile) ? findUnnamedSchemes(unsigned) : [];
  if (unnamed.length > 0) {
    const names = unnamed
      .slice(0, 3)
      .map((name) => `"${shownText(name)}"`)
      .join(", ");
    const text =
      `no requirement names the security scheme ${names}, and by the profile ${profile} a requirement without scopes could ` +
      "have been taken out of the card";
    return { text, paths: ["securityRequirements"] };
  }
  return undefined;
}

/** What nobody can see any more in a card that was signed by a profile which loses what is empty. */
export function removableAlarm(profile: Profile): TrustAlarm | undefined {
  if (!losesEmpties(profile)) return undefined;
  const text =
    `The profile ${profile} does not sign what is empty, so whatever is empty could have been taken out of this card without a ` +
    "trace, such as a security requirement without scopes.";
  return { kind: "removable", text, paths: [] };
}

/** Paths in a sentence: `a, b and 3 more`. */
export function listPaths(paths: readonly string[], maxItems = 5): string {
  const shown = paths.slice(0, maxItems).map(shownText).join(", ");
  return paths.length > maxItems ? `${shown} and ${paths.length - maxItems} more` : shown;
}

function losesEmpties(profile: Profile): boolean {
  return profile === "js-1" || profile === "python-1";
}

/** Interfaces, schemes and requirements, in either spelling. Of skills only whose own requirements are left out. */
function concernsSecurity(path: string, unsigned: JsonObject): boolean {
  if (/^(?:supported_?interfaces|security_?schemes|security_?requirements)(?!\w)/i.test(path)) return true;
  if (/^skills\[\d+\]\.security_?requirements(?!\w)/i.test(path)) return true;
  const whole = /^skills(?:\[(\d+)\])?$/.exec(path);
  if (whole === null) return false;
  const skills = listOf(unsigned["skills"]);
  const [, index] = whole;
  const left = index === undefined ? skills : skills.slice(Number(index), Number(index) + 1);
  return left.some((skill) => Object.hasOwn(objectOf(skill), "securityRequirements"));
}

/** Schemes that the card declares, and that neither it nor a skill demands. */
function findUnnamedSchemes(unsigned: JsonObject): readonly string[] {
  const { schemes, requirements, skills } = readCardSecurity(unsigned);
  const all = [...requirements, ...skills.flatMap((skill) => skill.requirements)];
  return [...schemes.keys()].filter((name) => !all.some((requirement) => requirement.has(name)));
}
