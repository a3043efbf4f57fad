import type { AgentCard, SecurityRequirement, SecurityScheme } from "@a2a-connect/proto";
import type { Interceptor } from "@connectrpc/connect";
import { CliError, usageError } from "../cli-error.ts";

/** What the user has to say who they are. */
export interface GivenCredentials {
  readonly bearer: string | undefined;
  readonly apiKey: string | undefined;
  /** Service parameters, lower-case names: a header that a scheme asks for may be among them. */
  readonly serviceParameters: Readonly<Record<string, string>>;
}

/** Where a credential goes in a request. */
interface CredentialPlace {
  readonly location: "header" | "query" | "cookie";
  readonly name: string;
  readonly value: string;
  /** Which of the given ones it is. */
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
 * in full (requirement L-9). A card that declares no scheme gets a bearer token as `Authorization` and an API key as
 * `X-API-Key`.
 *
 * @throws CliError CREDENTIALS_MISSING when the card has requirements and none can be met
 */
export function planCredentials(card: AgentCard, given: GivenCredentials): CredentialPlan {
  const schemes = Object.entries(card.securitySchemes);
  if (schemes.length === 0 && card.securityRequirements.length === 0) {
    return { places: undeclaredPlaces(given), isDeclared: false };
  }
  if (card.securityRequirements.length === 0) {
    // Declared, and asked for by nobody: what was given goes where it fits.
    const places = schemes.flatMap(([, scheme]) => placesOf(scheme, given) ?? []);
    return { places: withoutRepeats(places), isDeclared: true };
  }
  for (const requirement of card.securityRequirements) {
    const places = meetRequirement(requirement, card, given);
    if (places !== undefined) return { places: withoutRepeats(places), isDeclared: true };
  }
  throw credentialsMissing(card);
}

function undeclaredPlaces({ bearer, apiKey }: GivenCredentials): readonly CredentialPlace[] {
  return [
    ...(bearer === undefined ? [] : [authorization(bearer)]),
    ...(apiKey === undefined
      ? []
      : [{ location: "header" as const, name: "x-api-key", value: apiKey, credential: "api-key" as const }]),
  ];
}

/** All schemes of one requirement together, or undefined when one of them cannot be met. None at all: anonymous. */
function meetRequirement(
  { schemes }: SecurityRequirement,
  card: AgentCard,
  given: GivenCredentials,
): readonly CredentialPlace[] | undefined {
  const places: CredentialPlace[] = [];
  for (const name of Object.keys(schemes)) {
    const scheme = card.securitySchemes[name];
    const met = scheme === undefined ? undefined : placesOf(scheme, given);
    if (met === undefined) return undefined;
    places.push(...met);
  }
  return places;
}

/** Where one scheme wants what was given; empty when a service parameter is it already; undefined when it is missing. */
function placesOf(
  { scheme }: SecurityScheme,
  given: GivenCredentials,
): readonly CredentialPlace[] | undefined {
  switch (scheme.case) {
    case "httpAuthSecurityScheme":
      return scheme.value.scheme.toLowerCase() === "bearer" ? bearerPlaces(given) : ownAuthorization(given);
    case "oauth2SecurityScheme":
    case "openIdConnectSecurityScheme":
      return bearerPlaces(given);
    case "apiKeySecurityScheme":
      return apiKeyPlaces(scheme.value, given);
    case "mtlsSecurityScheme":
    case undefined:
      return undefined;
  }
}

function bearerPlaces(given: GivenCredentials): readonly CredentialPlace[] | undefined {
  return given.bearer === undefined ? ownAuthorization(given) : [authorization(given.bearer)];
}

/** An `Authorization` of the user's own, as a service parameter. */
function ownAuthorization({ serviceParameters }: GivenCredentials): readonly CredentialPlace[] | undefined {
  return serviceParameters["authorization"] === undefined ? undefined : [];
}

function apiKeyPlaces(
  { location, name }: { readonly location: string; readonly name: string },
  { apiKey, serviceParameters }: GivenCredentials,
): readonly CredentialPlace[] | undefined {
  if (apiKey === undefined) {
    return location === "header" && serviceParameters[name.toLowerCase()] !== undefined ? [] : undefined;
  }
  return location === "header" || location === "query" || location === "cookie"
    ? [{ location, name, value: apiKey, credential: "api-key" }]
    : undefined;
}

function authorization(bearer: string): CredentialPlace {
  return { location: "header", name: "authorization", value: `Bearer ${bearer}`, credential: "bearer" };
}

function withoutRepeats(places: readonly CredentialPlace[]): readonly CredentialPlace[] {
  const byTarget = new Map(places.map((place) => [`${place.location} ${place.name.toLowerCase()}`, place]));
  return [...byTarget.values()];
}

function credentialsMissing(card: AgentCard): CliError {
  const ways = card.securityRequirements.map(({ schemes }) =>
    Object.keys(schemes).map((name) => explainScheme(name, card)),
  );
  const wanted = ways.map((schemes) => schemes.map(([words]) => words).join(" and "));
  const hints = new Set(ways.flat().flatMap(([, hint]) => hint ?? []));
  return new CliError(
    "A2ACLI_ERR_CREDENTIALS_MISSING",
    `${card.name || "the agent"} wants ${wanted.join(", or ")}; that was not given`,
    { hint: [...hints].join("; ") || undefined },
  );
}

const accessTokenHint = "set A2ACLI_BEARER to an access token, or use --bearer";

/** What a scheme wants, in words, and how it is given. */
function explainScheme(name: string, card: AgentCard): readonly [words: string, hint?: string] {
  const { scheme } = card.securitySchemes[name] ?? {};
  switch (scheme?.case) {
    case "httpAuthSecurityScheme": {
      const kind = scheme.value.scheme;
      const isBearer = kind.toLowerCase() === "bearer";
      const hint = isBearer ? "set A2ACLI_BEARER, or use --bearer" : `--svc-param "authorization:${kind} …"`;
      return [`HTTP ${kind} (${name})`, hint];
    }
    case "apiKeySecurityScheme":
      return [
        `an API key in the ${scheme.value.location} ${scheme.value.name} (${name})`,
        "set A2ACLI_API_KEY, or use --api-key",
      ];
    case "oauth2SecurityScheme":
      return [`an OAuth 2 access token (${name})`, accessTokenHint];
    case "openIdConnectSecurityScheme":
      return [`an OpenID Connect token (${name})`, accessTokenHint];
    case "mtlsSecurityScheme":
      return [`a client certificate (${name}), which this command cannot show yet`];
    default:
      return [`${name}, which the card does not describe`];
  }
}

/** What calls carry beside the protocol's own headers, and the card's requests never do. */
export interface CallHeaders {
  readonly interceptor: Interceptor;
  /** Takes over what no header can carry: an API key in the query. */
  wrapFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch;
  /** From now on, calls are authenticated. `binding` says what the call goes over. */
  use(plan: CredentialPlan, binding: () => string): void;
}

/** On its way from the interceptor to fetch. It is on no wire. */
const queryHeader = "x-a2a-cli-query";

/** Service parameters from the start; credentials as soon as the card has said where they go. */
export function createCallHeaders(serviceParameters: Readonly<Record<string, string>>): CallHeaders {
  let plan: CredentialPlan = { places: [], isDeclared: false };
  let binding = (): string => "";
  return {
    use(credentials, bindingInUse) {
      plan = credentials;
      binding = bindingInUse;
    },
    interceptor: (next) => (request) => {
      for (const [name, value] of Object.entries(serviceParameters)) request.header.set(name, value);
      // To a card's endpoint only what the public card has asked for (A2ACLI_AUTH_008).
      if (plan.isDeclared || request.method.name !== "GetExtendedAgentCard") {
        attach(plan, request.header, binding());
      }
      return next(request);
    },
    wrapFetch: (fetch) => async (input, init) => {
      const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
      const query = headers.get(queryHeader);
      if (query === null) return await fetch(input, init);
      headers.delete(queryHeader);
      const url = new URL(input instanceof Request ? input.url : input);
      for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
      return await fetch(input instanceof Request ? new Request(url, input) : url, { ...init, headers });
    },
  };
}

function attach({ places }: CredentialPlan, header: Headers, binding: string): void {
  const query = new URLSearchParams();
  for (const { location, name, value } of places) {
    switch (location) {
      case "header":
        header.set(name, value);
        break;
      case "cookie":
        header.append("cookie", `${name}=${encodeURIComponent(value)}`);
        break;
      case "query":
        query.set(name, value);
        break;
    }
  }
  if (query.size === 0) return;
  if (binding === "GRPC") {
    throw usageError(
      "the agent wants its API key in the query, which gRPC does not have",
      "--transport jsonrpc, or another binding of the card",
    );
  }
  header.set(queryHeader, query.toString());
}
