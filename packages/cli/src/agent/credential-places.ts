import { parseMessage } from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import type { Interceptor } from "@connectrpc/connect";
import { CliError, usageError } from "../cli-error.ts";
import type { GivenCredentials } from "../wire-log/masking.ts";

/** Where a credential goes in a request. */
interface CredentialPlace {
  readonly location: "header" | "query" | "cookie";
  readonly name: string;
  readonly value: string;
  readonly credential: "bearer" | "api-key";
}

/** How requests to one agent are authenticated. */
export interface CredentialPlan {
  readonly places: readonly CredentialPlace[];
  /** The card declares schemes that accept these; without, they are never sent for a card (A2ACLI_AUTH_008). */
  readonly isDeclared: boolean;
}

/**
 * Attaches what was given in the way that the card declares: the first of its requirements that can be met, each of them
 * in full (requirement L-9). A card that declares no scheme gets a bearer token as `Authorization`, an API key as `X-API-Key`.
 */
export function planCredentials(card: AgentCard, given: GivenCredentials): CredentialPlan {
  const schemes = Object.keys(card.securitySchemes);
  const { bearer, apiKey } = given;
  if (card.securityRequirements.length > 0) {
    const ways = card.securityRequirements.map((requirement) =>
      Object.keys(requirement.schemes).map((name) => readScheme(name, card, given)),
    );
    const met = ways.find((demands) => demands.every(({ places }) => places !== undefined));
    if (met === undefined) throw credentialsMissing(card, ways);
    return { places: withoutRepeats(met), isDeclared: true };
  }
  if (schemes.length > 0) {
    // Schemes without requirements: what was given goes where it fits.
    return { places: withoutRepeats(schemes.map((name) => readScheme(name, card, given))), isDeclared: true };
  }
  const places = [
    ...(bearer === undefined ? [] : [authorization(bearer)]),
    ...(apiKey === undefined ? [] : [keyPlace("header", "x-api-key", apiKey)]),
  ];
  return { places, isDeclared: false };
}

function authorization(bearer: string): CredentialPlace {
  return { location: "header", name: "authorization", value: `Bearer ${bearer}`, credential: "bearer" };
}

function keyPlace(location: CredentialPlace["location"], name: string, value: string): CredentialPlace {
  return { location, name, value, credential: "api-key" };
}

/** What a security scheme wants. */
interface Demand {
  /** For people. */
  readonly words: string;
  readonly hint?: string;
  /** Where what was given goes; none when a service parameter is it already, undefined when it is missing. */
  readonly places?: readonly CredentialPlace[] | undefined;
}

function readScheme(name: string, card: AgentCard, given: GivenCredentials): Demand {
  const { scheme } = card.securitySchemes[name] ?? {};
  const { bearer, apiKey, serviceParameters } = given;
  const own = serviceParameters["authorization"] === undefined ? undefined : [];
  const token = {
    hint: "log in with a2a auth login, or set A2ACLI_BEARER to an access token",
    places: bearer === undefined ? own : [authorization(bearer)],
  };
  switch (scheme?.case) {
    case "httpAuthSecurityScheme": {
      const kind = scheme.value.scheme;
      const words = `HTTP ${kind} (${name})`;
      return kind.toLowerCase() === "bearer"
        ? { words, ...token, hint: "set A2ACLI_BEARER, or use --bearer" }
        : { words, hint: `--svc-param "authorization:${kind} …"`, places: own };
    }
    case "apiKeySecurityScheme": {
      const { location, name: key } = scheme.value;
      const isPlace = location === "header" || location === "query" || location === "cookie";
      const isOwn = location === "header" && serviceParameters[key.toLowerCase()] !== undefined;
      const places = apiKey !== undefined && isPlace ? [keyPlace(location, key, apiKey)] : undefined;
      return {
        words: `an API key in the ${location} ${key} (${name})`,
        hint: "set A2ACLI_API_KEY, or use --api-key",
        places: apiKey === undefined && isOwn ? [] : places,
      };
    }
    case "oauth2SecurityScheme":
      return { words: `an OAuth 2 access token (${name})`, ...token };
    case "openIdConnectSecurityScheme":
      return { words: `an OpenID Connect token (${name})`, ...token };
    case "mtlsSecurityScheme":
      return { words: `a client certificate (${name}), which this command cannot present yet` };
    default:
      return { words: `${name}, which the card does not describe` };
  }
}

/** Where these demands want what was given; of one place, the last. */
function withoutRepeats(demands: readonly Demand[]): readonly CredentialPlace[] {
  const places = demands.flatMap((demand) => demand.places ?? []);
  const byTarget = new Map(places.map((place) => [`${place.location} ${place.name.toLowerCase()}`, place]));
  return [...byTarget.values()];
}

function credentialsMissing(card: AgentCard, ways: readonly (readonly Demand[])[]): CliError {
  const wanted = ways.map((demands) => demands.map(({ words }) => words).join(" and "));
  const hints = new Set(ways.flat().flatMap(({ hint }) => hint ?? []));
  return new CliError(
    "A2ACLI_ERR_CREDENTIALS_MISSING",
    `${card.name || "the agent"} requires ${wanted.join(", or ")}; you gave none of these`,
    { hint: [...hints].join("; ") || undefined },
  );
}

/** What was given as headers for the conformance kit, where the card's JSON wants them; without any that fit, none. */
export function findCallHeaders(
  card: Readonly<Record<string, unknown>>,
  given: GivenCredentials,
): Readonly<Record<string, string>> {
  const headers = new Headers(given.serviceParameters);
  try {
    setFields(headers, planCredentials(parseMessage(AgentCardSchema, card), given));
  } catch {
    // A card with faults is what this is about; what it wants then, a token is the best guess at.
    if (given.bearer !== undefined) headers.set("authorization", `Bearer ${given.bearer}`);
  }
  return Object.fromEntries(headers);
}

/**
 * What calls carry beside the protocol's own headers, and the card's requests never do: service parameters, and credentials.
 * @param planned what the card has said so far of where they go
 */
export function addCallHeaders(
  serviceParameters: Readonly<Record<string, string>>,
  planned: () => CredentialPlan,
): Interceptor {
  return (next) => (request) => {
    for (const [name, value] of Object.entries(serviceParameters)) request.header.set(name, value);
    const plan = planned();
    // To a card's endpoint only what the public card has asked for (A2ACLI_AUTH_008).
    if (plan.isDeclared || request.method.name !== "GetExtendedAgentCard") setFields(request.header, plan);
    return next(request);
  };
}

/** What no header can carry, for the client: an API key in the query. @throws CliError USAGE for a call over gRPC, which has none */
export function queryOver(binding: string, { places }: CredentialPlan): Readonly<Record<string, string>> {
  const inQuery = places.filter(({ location }) => location === "query");
  if (inQuery.length > 0 && binding === "GRPC") {
    throw usageError(
      "the agent wants its API key in the URL's query, and gRPC has no query",
      "use --transport jsonrpc, or another binding of the card",
    );
  }
  return Object.fromEntries(inQuery.map(({ name, value }) => [name, value]));
}

/** What goes into headers and cookies. */
function setFields(header: Headers, { places }: CredentialPlan): void {
  for (const { location, name, value } of places) {
    if (location === "header") header.set(name, value);
    if (location === "cookie") header.append("cookie", `${name}=${encodeURIComponent(value)}`);
  }
}
