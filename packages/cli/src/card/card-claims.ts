import { isObject, objectOf, readObject, textsIn } from "./loose-json.ts";

/** What a card says about where callers go and what they are asked for: what its signature vouches for, or what it only claims. */
export interface CardClaims {
  /** Hosts of its interfaces, with ports; of what is no URL the address itself. Each once. */
  readonly interfaceHosts: readonly string[];
  /** Hosts that people and credentials are sent to: token, authorization and discovery URLs. Each once. */
  readonly tokenHosts: readonly string[];
  /** What callers are asked for, in a few words for each alternative; undefined: for nothing. */
  readonly demands: readonly string[] | undefined;
  /** Skills that have requirements of their own. */
  readonly stricterSkills: number;
}

/** @param canonical canonical text, without signatures. Total: what is not as it should be claims nothing. */
export function readClaims(canonical: string): CardClaims {
  const card = readObject(canonical);
  const schemes = objectOf(card["securitySchemes"]);
  const requirements = listOf(card["securityRequirements"]);
  return {
    interfaceHosts: unique(
      listOf(card["supportedInterfaces"])
        .flatMap((each) => textsIn(each, /^url$/))
        .map(hostOf),
    ),
    tokenHosts: unique(textsIn(schemes, /Url$/).map(hostOf)),
    demands:
      requirements.length === 0
        ? undefined
        : requirements.map((requirement) =>
            describeDemand(objectOf(objectOf(requirement)["schemes"]), schemes),
          ),
    stricterSkills: listOf(card["skills"]).filter(
      (skill) => listOf(objectOf(skill)["securityRequirements"]).length > 0,
    ).length,
  };
}

/** The host of an address, with its port where it names one. gRPC has addresses that are no URLs. */
export function hostOf(address: string): string {
  const { host = "" } = URL.parse(address) ?? {};
  return host === "" ? address : host;
}

/** Schemes that are demanded together. */
function describeDemand(
  demanded: Readonly<Record<string, unknown>>,
  schemes: Readonly<Record<string, unknown>>,
): string {
  const names = Object.keys(demanded);
  if (names.length === 0) return "nothing";
  return names.map((name) => `${name} (${kindOf(objectOf(schemes[name]))})`).join(" and ");
}

const kinds: Readonly<Record<string, string>> = {
  apiKeySecurityScheme: "API key",
  httpAuthSecurityScheme: "HTTP",
  oauth2SecurityScheme: "OAuth 2",
  openIdConnectSecurityScheme: "OpenID Connect",
  mtlsSecurityScheme: "client certificate",
};

function kindOf(scheme: Readonly<Record<string, unknown>>): string {
  const [member = ""] = Object.keys(scheme).filter((name) => Object.hasOwn(kinds, name));
  const http = member === "httpAuthSecurityScheme" ? objectOf(scheme[member])["scheme"] : undefined;
  return [kinds[member] ?? "not declared", ...(typeof http === "string" ? [http] : [])].join(" ");
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
