import { isObject, mergeMembers, shownList, shownText, toTable } from "@a2a-connect/core/internal";
import { isOlderScheme, isUnset } from "./older-members.ts";

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
  return toTable(
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
    const schemes = Object.entries(alternative).map(([name, scopes]): [string, unknown] => [
      name,
      Array.isArray(scopes) ? { list: scopes } : scopes,
    ]);
    return { schemes: toTable(schemes) };
  });
}

/**
 * `authentication` of the first cards: ways to say who calls, any of which is enough. A way is the name of an HTTP scheme, or
 * an object that describes a scheme of OAuth 2.0; one of these may also stand in `authentication.oauth2`.
 *
 * What cannot be expressed is left out while another way is there. When there is none, a requirement stays that no caller can
 * meet: the card must not look as if it asked for nothing.
 */
export function schemesOfAuthentication(
  authentication: unknown,
  warnings: string[],
): Record<string, unknown> {
  const told = isObject(authentication) ? authentication : { schemes: authentication };
  const { schemes, oauth2 } = told;
  const says = Object.values(told).some((value) => value !== "" && !isUnset(value));
  const listed: readonly unknown[] = Array.isArray(schemes) ? schemes : [schemes ?? []].flat();
  const ways = [
    ...listed.map(readWay),
    ...((oauth2 ?? null) === null ? [] : [readOAuth("OAuth2", oauth2)]),
    ...(isUnset(schemes) && isUnset(oauth2) && says ? [unknownWay("authentication")] : []),
  ];
  const known = ways.flatMap(({ found }) => found);
  const unknown = ways.filter(({ free, found }) => !free && found.length === 0).map(({ name }) => name);
  if (unknown.length > 0) {
    warnings.push(
      `The card's authentication does not say how to present ${shownList(unknown)}: ${known.length > 0 ? "left out of the security schemes" : "no caller can meet what it asks for"}.`,
    );
  }
  const required = known.length > 0 ? known.map(([name]) => name) : unknown.slice(0, 1);
  return {
    securitySchemes: toTable(known),
    // When one alternative demands nothing, there are no requirements.
    securityRequirements: ways.some(({ free }) => free)
      ? []
      : required.map((name) => ({ schemes: { [name]: { list: [] } } })),
  };
}

/** One way to say who calls, and the security schemes of 1.0 by which it is expressed, by name. */
interface Way {
  readonly name: string;
  /** Whether it asks for nothing. */
  readonly free: boolean;
  readonly found: readonly (readonly [name: string, scheme: unknown])[];
}

function unknownWay(name: string): Way {
  return { name, free: false, found: [] };
}

function readWay(way: unknown): Way {
  if (typeof way === "string") {
    const isKnown = httpSchemes.has(way.toLowerCase());
    return {
      name: way === "" ? "a scheme without a name" : way,
      free: isFree(way),
      found: isKnown ? [[way, { httpAuthSecurityScheme: { scheme: way } }]] : [],
    };
  }
  const name = isObject(way) ? (way["scheme"] ?? way["type"] ?? way["name"]) : undefined;
  const called = typeof name === "string" && name !== "" ? name : "a scheme without a name";
  if (!isObject(way)) {
    return unknownWay(called);
  }
  return /^oauth/i.test(called) || isObject(way["flows"]) ? readOAuth(called, way) : readWay(called);
}

/** A scheme of OAuth 2.0 with its flows, or with the URLs of one. A scheme of 1.0 has one flow, so each becomes one. */
function readOAuth(name: string, way: unknown): Way {
  const told = isObject(way) ? way : {};
  const flows: Members = isObject(told["flows"]) ? told["flows"] : flowOfUrls(told);
  const found = flowNames.flatMap((flow) => {
    const content = flows[flow];
    return isObject(content) ? [[flow, mergeMembers<unknown>({ scopes: {} }, content)] as const] : [];
  });
  return {
    name,
    free: false,
    found: found.map(([flow, content]) => [
      found.length === 1 ? name : `${name}.${flow}`,
      {
        oauth2SecurityScheme: {
          flows: { [flow]: mergeMembers(content, { scopes: scopesOf(content["scopes"]) }) },
        },
      },
    ]),
  };
}

function flowOfUrls({ authorizationUrl, tokenUrl, refreshUrl, scopes }: Members): Members {
  const refresh = refreshUrl === undefined ? {} : { refreshUrl };
  if (typeof tokenUrl !== "string") {
    return typeof authorizationUrl === "string" ? { implicit: { authorizationUrl, ...refresh, scopes } } : {};
  }
  return typeof authorizationUrl === "string"
    ? { authorizationCode: { authorizationUrl, tokenUrl, ...refresh, scopes } }
    : { clientCredentials: { tokenUrl, ...refresh, scopes } };
}

/** Scopes with what they permit; the first cards also had lists of names. */
function scopesOf(scopes: unknown): unknown {
  const names = typeof scopes === "string" ? scopes.split(" ").filter((name) => name !== "") : scopes;
  return Array.isArray(names)
    ? toTable(names.filter((name) => typeof name === "string").map((name: string) => [name, ""]))
    : (names ?? {});
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
  if (!isOlderScheme(scheme)) {
    return scheme; // in the form of 1.0, or of none
  }
  const { type, in: location } = scheme;
  const rest = toTable(Object.entries(scheme).filter(([name]) => name !== "type" && name !== "in"));
  switch (type) {
    case "apiKey":
      return { apiKeySecurityScheme: mergeMembers<unknown>(rest, { location: location ?? null }) };
    case "http":
      return { httpAuthSecurityScheme: rest };
    case "oauth2":
      return {
        oauth2SecurityScheme: mergeMembers(rest, {
          flows: firstFlow(name, scheme["flows"] ?? null, warnings),
        }),
      };
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
  return { [first]: isObject(flow) ? mergeMembers<unknown>({ scopes: {} }, flow) : flow };
}

const flowNames = ["clientCredentials", "authorizationCode", "deviceCode", "password", "implicit"];
