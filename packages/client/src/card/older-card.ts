import {
  isObject,
  mergeMembers,
  parseProtocolVersion,
  shownList,
  shownText,
  toTable,
} from "@a2a-connect/core/internal";
import { isOlderCard, isUnset, olderInterfaces, olderSecurityMembers } from "./older-members.ts";
import {
  type Members,
  normalizeSecurityRequirements,
  normalizeSecuritySchemes,
  schemesOfAuthentication,
} from "./older-security.ts";

/** A card in the form of 1.0. */
export interface NormalizedCard {
  /** Values of an unexpected type stay, and missing ones are null, so that the reader of 1.0 refuses them. */
  readonly json: Members;
  readonly warnings: readonly string[];
  /** A problem of `json` with the names that the card itself uses. */
  readonly inItsWords: (problem: string) => string;
}

/**
 * A card of A2A 0.2 or 0.3 as one of 1.0: its addresses as interfaces of its own version, its security schemes and
 * requirements in their new form, and defaults for members that were optional.
 */
export function normalizeOlderCard(json: Members): NormalizedCard {
  const warnings: string[] = [];
  const version = protocolVersionOf(json, warnings);
  return {
    json: {
      ...pick(json, sharedFields),
      version: json["version"] ?? unversioned(warnings),
      description: json["description"] ?? describe(json, "The card", warnings),
      ...normalizeProvider(json["provider"], warnings),
      supportedInterfaces: olderInterfaces(json, version),
      capabilities: normalizeCapabilities(
        json["capabilities"] ?? null,
        json["supportsAuthenticatedExtendedCard"],
      ),
      defaultInputModes: json["defaultInputModes"] ?? ["text"],
      defaultOutputModes: json["defaultOutputModes"] ?? ["text"],
      skills: normalizeSkills(json["skills"] ?? null, warnings),
      ...normalizeSecurity(json, warnings),
    },
    warnings: warnings.slice(0, maxWarnings),
    inItsWords: olderFieldPath,
  };
}

/** A card that an older agent has answered, as the JSON of 1.0. */
export function readOlderCard(json: Members): unknown {
  return (isOlderCard(json) ? normalizeOlderCard(json) : withOlderSecurity(json)).json;
}

/**
 * A card of 1.0 that says who may call in members of older versions only, in the form of 1.0: it must not look open.
 *
 * A signature of 1.0 does not cover these members. So a card with signatures gets requirements from them, but no scheme:
 * that could name an address to which a client would send its secret.
 */
export function withOlderSecurity(json: Members): NormalizedCard {
  const found = new Set(olderSecurityMembers(json));
  const warnings = [
    `The card says who may call as A2A 0.3 did: ${shownList(found)} was read in the form of 1.0.`,
  ];
  const { skills, signatures = [] } = json;
  const { securitySchemes, securityRequirements } = normalizeSecurity(json, warnings);
  const isSigned = !Array.isArray(signatures) || signatures.length > 0;
  return {
    json: {
      ...json,
      ...(isSigned || securitySchemes === undefined ? {} : { securitySchemes }),
      ...(found.has("security") || found.has("authentication") ? { securityRequirements } : {}),
      ...(Array.isArray(skills)
        ? {
            skills: skills.map((skill: unknown, at) =>
              isObject(skill) && found.has(`skills[${at}].security`)
                ? mergeMembers(skill, {
                    securityRequirements: normalizeSecurityRequirements(skill["security"]),
                  })
                : skill,
            ),
          }
        : {}),
    },
    warnings: warnings.slice(0, maxWarnings),
    inItsWords: (problem) =>
      found.has("security") ? problem.replace(/^securityRequirements/, "security") : problem,
  };
}

/** Most problems that are listed: more of them do not help a reader, and a card may have any number of skills. */
const maxWarnings = 20;

/** Members that are the same in all versions. */
const sharedFields = ["name", "documentationUrl", "iconUrl", "signatures"];

function olderFieldPath(problem: string): string {
  for (const [pattern, older] of olderPaths) {
    if (pattern.test(problem)) {
      return problem.replace(pattern, older);
    }
  }
  return problem;
}

const olderPaths: readonly (readonly [RegExp, string])[] = [
  [/^supportedInterfaces\[0\]\.url/, "url"],
  [/^supportedInterfaces\[0\]\.protocolBinding/, "preferredTransport"],
  [/^supportedInterfaces\[0\]\.protocolVersion/, "protocolVersion"],
  [/^supportedInterfaces\[\d+\]\.protocolBinding/, "additionalInterfaces.transport"],
  [/^supportedInterfaces\[\d+\]/, "additionalInterfaces"],
  [/^capabilities\.extendedAgentCard/, "supportsAuthenticatedExtendedCard"],
  [/^securityRequirements/, "security"],
];

function pick(members: Members, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(members, name)).map((name) => [name, members[name]]),
  );
}

/** Versions before 0.2.5 did not name themselves. */
function protocolVersionOf({ protocolVersion }: Members, warnings: string[]): unknown {
  if (protocolVersion === undefined || protocolVersion === null || protocolVersion === "") {
    warnings.push(
      "The card is of an older form and names no protocol version: it was read as one of A2A 0.2.",
    );
    return "0.2";
  }
  const version =
    typeof protocolVersion === "string" ? parseProtocolVersion(protocolVersion) : protocolVersion;
  const name = typeof version === "string" ? shownText(version) : "an older version";
  warnings.push(`The card is of A2A ${name}: it was read as a card of 1.0 with interfaces of that version.`);
  return version;
}

function normalizeCapabilities(capabilities: unknown, extendedCard: unknown): unknown {
  // State history (0.2, 0.3) was removed without a successor.
  return isObject(capabilities) && extendedCard !== undefined
    ? { ...capabilities, extendedAgentCard: extendedCard }
    : capabilities;
}

/** The members of a provider were optional. */
function normalizeProvider(provider: unknown, warnings: string[]): Record<string, unknown> {
  if (!isObject(provider) || (hasText(provider["organization"]) && hasText(provider["url"]))) {
    return provider === undefined ? {} : { provider };
  }
  const { organization } = provider;
  const name = typeof organization === "string" && organization !== "" ? ` ${shownText(organization)}` : "";
  warnings.push(`The provider${name} lacks its ${name === "" ? "organization" : "url"}: it was left out.`);
  return {};
}

function hasText(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function normalizeSkills(skills: unknown, warnings: string[]): unknown {
  if (!Array.isArray(skills)) {
    return skills;
  }
  return skills.map((skill: unknown) => {
    if (!isObject(skill)) {
      return skill;
    }
    const { security } = skill;
    const rest = toTable(Object.entries(skill).filter(([name]) => name !== "security"));
    return mergeMembers(rest, {
      description: hasText(skill["description"])
        ? skill["description"]
        : describe(
            skill,
            `The skill ${shownText(typeof skill["id"] === "string" ? skill["id"] : "without an id")}`,
            warnings,
          ),
      tags: skill["tags"] ?? [],
      ...(isUnset(security) ? {} : { securityRequirements: normalizeSecurityRequirements(security) }),
    });
  });
}

/** Some of the first agents gave their card no version. */
function unversioned(warnings: string[]): string {
  warnings.push("The card has no version: it was read as empty.");
  return "";
}

/** Descriptions were optional; the name replaces a missing one. */
function describe({ name }: Members, what: string, warnings: string[]): unknown {
  warnings.push(`${what} has no description: its name stands in.`);
  return name ?? null;
}

/** `securitySchemes`, and who may call: by `security`, by the member of 1.0, or by `authentication` in the first cards. */
function normalizeSecurity(json: Members, warnings: string[]): Record<string, unknown> {
  const { securitySchemes, security, authentication } = json;
  const required = isUnset(security)
    ? (json["securityRequirements"] ?? json["security_requirements"])
    : security;
  if (isUnset(required) && !isUnset(authentication)) {
    const told = schemesOfAuthentication(authentication, warnings);
    const schemes = normalizeSecuritySchemes(securitySchemes ?? {}, warnings);
    return isObject(schemes) && isObject(told["securitySchemes"])
      ? { ...told, securitySchemes: { ...schemes, ...told["securitySchemes"] } }
      : { ...told, securitySchemes };
  }
  return {
    ...(securitySchemes === undefined
      ? {}
      : { securitySchemes: normalizeSecuritySchemes(securitySchemes, warnings) }),
    ...(required === undefined ? {} : { securityRequirements: normalizeSecurityRequirements(required) }),
  };
}
