import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { listOf, objectOf, textOf } from "../canonical/json.ts";
import { quote } from "../verify/verdict.ts";
import { type Address, readAddress } from "./address.ts";
import { readScheme, type Scheme, type SchemeAddress } from "./scheme.ts";

/** What a card declares about security, as data: this is what a card is judged by, and compared with the next one by. */
export interface Outline {
  readonly name: string;
  readonly version: string;
  readonly interfaces: readonly OutlinedInterface[];
  /** By name. */
  readonly schemes: ReadonlyMap<string, Scheme>;
  /** Alternatives: a caller must meet one. */
  readonly requirements: readonly Requirement[];
  /** Each with requirements in place of the card's; without any, those of the card hold. */
  readonly skills: readonly { readonly id: string; readonly requirements: readonly Requirement[] }[];
}

/** An AgentInterface. Its place is that of its tenant at its address. */
export interface OutlinedInterface extends Address {
  readonly binding: string;
  /** The protocol version as the card writes it. */
  readonly version: string;
  /** A number that is larger for a later version, equal for versions that are the same to clients, and -1 for none. */
  readonly release: number;
}

/** What must be presented together: scopes by the name of a scheme. Without schemes it demands nothing. */
export type Requirement = ReadonlyMap<string, ReadonlySet<string>>;

/** Longest outline that is remembered, in UTF-16 code units. */
export const maxOutlineLength: number = 64 * 1024;

/**
 * What is remembered of a card to compare later ones with, as JSON text: the same for cards that declare the same, however they
 * describe it.
 *
 * @param card canonical JSON. Total: what is missing stays missing.
 */
export function formatOutline(card: JsonObject): string {
  const { name, version, supportedInterfaces, securitySchemes, securityRequirements, skills } = card;
  const outlined = listOf(skills).map((skill) => {
    const { id, securityRequirements } = objectOf(skill);
    return { id, securityRequirements };
  });
  const ofCard = { name, version, supportedInterfaces, securitySchemes, securityRequirements };
  return JSON.stringify({ ...ofCard, skills: outlined });
}

/** Reads the canonical JSON of a card, or what was remembered of one. Total: what is not as it should be declares nothing. */
export function readOutline(card: JsonObject): Outline {
  const schemes = Object.entries(objectOf(card["securitySchemes"]));
  return {
    name: textOf(card["name"]),
    version: textOf(card["version"]),
    interfaces: listOf(card["supportedInterfaces"]).map(readInterface),
    schemes: new Map(schemes.map(([name, scheme]) => [name, readScheme(name, scheme)])),
    requirements: readRequirements(card["securityRequirements"]),
    skills: listOf(card["skills"]).map((json) => {
      const { id, securityRequirements } = objectOf(json);
      return { id: textOf(id), requirements: readRequirements(securityRequirements) };
    }),
  };
}

function readInterface(json: JsonValue, index: number): OutlinedInterface {
  const { url, protocolBinding, protocolVersion, tenant } = objectOf(json);
  const [version, whose] = [textOf(protocolVersion), textOf(tenant)];
  const [, major, minor = "0"] = /^(\d{1,6})(?:\.(\d{1,6}))?(?:\.|$)/.exec(version) ?? [];
  const subject = whose === "" ? "An interface" : `An interface for the tenant ${quote(whose)}`;
  const address = readAddress(textOf(url), subject, ["supportedInterfaces", index, "url"]);
  return {
    ...address,
    place: JSON.stringify([address.place, whose]),
    binding: textOf(protocolBinding),
    version,
    release: major === undefined ? -1 : Number(major) * 1_000_000 + Number(minor),
  };
}

function readRequirements(json: JsonValue | undefined): readonly Requirement[] {
  return listOf(json).map((requirement) => {
    const schemes = Object.entries(objectOf(objectOf(requirement)["schemes"]));
    return new Map(schemes.map(([name, scopes]) => [name, readScopes(scopes)]));
  });
}

function readScopes(json: JsonValue): ReadonlySet<string> {
  return new Set(listOf(objectOf(json)["list"]).filter((scope) => typeof scope === "string"));
}

/** How many interfaces, schemes, addresses of these, skills, demands for schemes, and scopes a card declares. */
export function countParts(outline: Outline): number {
  const { interfaces, schemes, skills } = outline;
  const sizes = allRequirements(outline).map((requirement) =>
    [...requirement.values()].reduce((sum, scopes) => sum + 1 + scopes.size, requirement.size === 0 ? 1 : 0),
  );
  const declared = [interfaces.length, schemes.size, addressesOf(outline).length, skills.length];
  return [...declared, ...sizes].reduce((sum, size) => sum + size, 0);
}

/** The names of all schemes that some requirements demand. */
export function namesIn(requirements: readonly Requirement[]): ReadonlySet<string> {
  return new Set(requirements.flatMap((requirement) => [...requirement.keys()]));
}

/** The requirements of a card and those of all its skills. */
export function allRequirements({ requirements, skills }: Outline): readonly Requirement[] {
  return [...requirements, ...skills.flatMap((skill) => skill.requirements)];
}

/** The addresses of all schemes of a card. */
export function addressesOf({ schemes }: Outline): readonly SchemeAddress[] {
  return [...schemes.values()].flatMap(({ addresses }) => addresses);
}
