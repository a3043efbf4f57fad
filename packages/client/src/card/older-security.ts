import { isObject, shownText } from "@a2a-connect/core/internal";
import { shownList } from "../interface/shown-list.ts";

/** JSON of an object, with unknown members. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * `securitySchemes` of A2A 0.3, whose kind is in `type` as in OpenAPI, in the form of 1.0, whose kind is the member's
 * name. Schemes of an unknown kind are left out with a warning. A value that is not an object stays as it is.
 */
export function normalizeSecuritySchemes(schemes: unknown, warnings: string[]): unknown {
  if (!isObject(schemes)) {
    return schemes;
  }
  return Object.fromEntries(
    Object.entries(schemes).flatMap(([name, scheme]) => {
      const normalized = isObject(scheme) ? normalizeScheme(name, scheme, warnings) : scheme;
      return normalized === undefined ? [] : [[name, normalized]];
    }),
  );
}

/**
 * `security` of A2A 0.3, a list of `{ scheme: scopes }`, as `securityRequirements` of 1.0. Alternatives stay
 * alternatives.
 */
export function normalizeSecurityRequirements(security: unknown): unknown {
  if (!Array.isArray(security)) {
    return security;
  }
  return security.map((alternative: unknown) => {
    // `schemes` that contains an object is in the form of 1.0 already.
    if (!isObject(alternative) || isObject(alternative["schemes"])) {
      return alternative;
    }
    const schemes = Object.entries(alternative).map(([name, scopes]) => [
      name,
      Array.isArray(scopes) ? { list: scopes } : scopes,
    ]);
    return { schemes: Object.fromEntries(schemes) };
  });
}

/** `authentication.schemes` of the first cards: names of HTTP schemes, any of which is enough. */
export function schemesOfAuthentication({ schemes }: Members, warnings: string[]): Record<string, unknown> {
  if (!Array.isArray(schemes)) {
    return {};
  }
  const names = schemes.filter((scheme): scheme is string => typeof scheme === "string" && scheme !== "");
  const needing = names.filter((name) => !isFree(name));
  const known = needing.filter((name) => httpSchemes.has(name.toLowerCase()));
  const unknown = needing.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    warnings.push(
      `authentication.schemes does not say how to present ${shownList(unknown)}: left out of the security schemes.`,
    );
  }
  return {
    securitySchemes: Object.fromEntries(
      known.map((scheme) => [scheme, { httpAuthSecurityScheme: { scheme } }]),
    ),
    // When one alternative demands nothing, there are no requirements.
    securityRequirements:
      needing.length < names.length ? [] : known.map((name) => ({ schemes: { [name]: { list: [] } } })),
  };
}

const httpSchemes: ReadonlySet<string> = new Set([
  "basic",
  "bearer",
  "digest",
  "dpop",
  "hoba",
  "mutual",
  "negotiate",
]);

function isFree(scheme: string): boolean {
  return ["none", "public"].includes(scheme.toLowerCase());
}

function normalizeScheme(name: string, scheme: Members, warnings: string[]): unknown {
  const { type, in: location, ...rest } = scheme;
  switch (type) {
    case undefined:
      return scheme; // in the form of 1.0, or of none
    case "apiKey":
      return { apiKeySecurityScheme: { ...rest, location: location ?? null } };
    case "http":
      return { httpAuthSecurityScheme: rest };
    case "oauth2":
      return { oauth2SecurityScheme: { ...rest, flows: firstFlow(name, scheme["flows"] ?? null, warnings) } };
    case "openIdConnect":
      return { openIdConnectSecurityScheme: rest };
    case "mutualTLS":
      return { mtlsSecurityScheme: rest };
    default:
      warnings.push(
        `The security scheme ${shownText(name)} is of a kind that 1.0 does not know: it was left out.`,
      );
      return undefined;
  }
}

/** A scheme of 1.0 has one flow. Of several, the one that suits both programs and people is taken. */
function firstFlow(name: string, flows: unknown, warnings: string[]): unknown {
  if (!isObject(flows)) {
    return flows;
  }
  const [first, ...others] = flowNames.filter((flow) => isObject(flows[flow]));
  if (others.length > 0) {
    warnings.push(
      `The security scheme ${shownText(name)} has several flows, of which ${first} was taken and ${shownList(others)} left out.`,
    );
  }
  if (first === undefined) {
    return flows;
  }
  const flow = flows[first];
  return { [first]: isObject(flow) ? { scopes: {}, ...flow } : flow };
}

const flowNames = ["clientCredentials", "authorizationCode", "deviceCode", "password", "implicit"];
