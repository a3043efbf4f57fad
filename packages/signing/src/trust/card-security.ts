import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type DeclaredScheme, readScheme } from "./declared-scheme.ts";
import { listOf, objectOf, textOf } from "./json-access.ts";

/** What a card declares about security, as far as it can be read. */
export interface CardSecurity {
  readonly interfaces: readonly DeclaredInterface[];
  /** By name. */
  readonly schemes: ReadonlyMap<string, DeclaredScheme>;
  /** Alternatives: a caller must meet one. */
  readonly requirements: readonly Requirement[];
  readonly skills: readonly DeclaredSkill[];
}

/** An AgentInterface. */
export interface DeclaredInterface {
  readonly url: string;
  readonly binding: string;
  readonly version: string;
  readonly tenant: string;
}

/** What must be presented together: scopes by the name of a scheme. Without schemes it demands nothing. */
export type Requirement = ReadonlyMap<string, ReadonlySet<string>>;

/** An AgentSkill, as far as it says who may use it. */
export interface DeclaredSkill {
  readonly id: string;
  /** Alternatives in place of the card's; empty: those of the card. */
  readonly requirements: readonly Requirement[];
}

/** Reads the canonical JSON of a card. Total: what is not as it should be declares nothing. */
export function readCardSecurity(card: JsonObject): CardSecurity {
  return {
    interfaces: listOf(card["supportedInterfaces"]).map(readInterface),
    schemes: new Map(
      Object.entries(objectOf(card["securitySchemes"])).map(([name, scheme]) => [name, readScheme(scheme)]),
    ),
    requirements: readRequirements(card["securityRequirements"]),
    skills: listOf(card["skills"]).map(readSkill),
  };
}

function readInterface(json: JsonValue): DeclaredInterface {
  const { url, protocolBinding, protocolVersion, tenant } = objectOf(json);
  return {
    url: textOf(url),
    binding: textOf(protocolBinding),
    version: textOf(protocolVersion),
    tenant: textOf(tenant),
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

function readSkill(json: JsonValue): DeclaredSkill {
  const { id, securityRequirements } = objectOf(json);
  return { id: textOf(id), requirements: readRequirements(securityRequirements) };
}
