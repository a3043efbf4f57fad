import { RecentMap } from "@a2a-connect/core/internal";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from "jose";
import type { AuthGate, Caller, Credentials, Refusal, Verdict } from "../gate.ts";
import { parseBearerToken, readAuthorization } from "./bearer-token.ts";
import { RemoteKeySet } from "./key-set.ts";
import { parseServerUrl, withLimits } from "./server-fetch.ts";
import { isTaskToken } from "./task-token.ts";

/** The claims of a verified token, before a caller is made of them. */
export type Claims = Readonly<Record<string, unknown>>;

/** What of a verified token becomes of its caller. */
export interface ClaimOptions {
  /** Who calls. Default: issuer and subject, as `https://id.example|alice`. */
  readonly principal?: (claims: Claims) => string;
  /** The tenant that the token is for. Undefined: the token does not say. Default: it never does. */
  readonly tenant?: (claims: Claims) => string | undefined;
  /** The scopes of the token. Default: its claim `scope`, else `scp`. */
  readonly scopes?: (claims: Claims) => readonly string[];
  /** The names of claims that agents get in `turn.caller.claims`. Default none. */
  readonly claims?: readonly string[];
}

/** Which access tokens count. */
export interface BearerJwtOptions extends ClaimOptions {
  /** The `iss` of its tokens, exactly. */
  readonly issuer: string;
  /** This server as the issuer names it in `aud` (RFC 8707): one of these. A token for another server is refused. */
  readonly audience: string | readonly string[];
  /** URL of the issuer's keys (`jwks_uri`), or the keys themselves. */
  readonly keys: string | JSONWebKeySet;
  /** Signature algorithms. Default: RS256, PS256, ES256 and EdDSA. Those of shared secrets (`HS…`) are never taken. */
  readonly algorithms?: readonly string[];
  /** How far the issuer's clock may be off, in seconds. Default 30. */
  readonly clockSkewSeconds?: number;
  /** Takes only tokens that say that they are access tokens: `typ` is `at+jwt`, with all claims of RFC 9068. Default false. */
  readonly strict?: boolean;
  /** How long keys count without being fetched again, in milliseconds. Default 600,000. */
  readonly keysMaxAgeMs?: number;
  /** The shortest time between two fetches of the keys, in milliseconds. Default 30,000. */
  readonly keysCooldownMs?: number;
  /** Fetches the keys. Default the platform's. */
  readonly fetch?: typeof globalThis.fetch;
  /** The time, milliseconds since 1970. Default the machine's. */
  readonly now?: () => number;
}

const defaultAlgorithms: readonly string[] = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"];

/** Tokens of another type are not for calls: id tokens of OpenID Connect have none, those for logout and DPoP do. */
const accessTokenTypes: ReadonlySet<string> = new Set(["at+jwt", "application/at+jwt", "jwt"]);

/** Claims that an access token must have (RFC 9068 §2.2). */
const strictClaims: readonly string[] = ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"];

/**
 * A gate for access tokens that are JWTs in `Authorization: Bearer` (RFC 6750, RFC 9068).
 *
 * @throws Error when an algorithm of shared secrets is asked for, or the URL of the keys is not https
 */
export function bearerJwt(options: BearerJwtOptions): AuthGate {
  const { keys } = options;
  if (typeof keys === "string") parseServerUrl("the URL of the keys", keys);
  const verifier = createJwtVerifier(options, typeof keys === "string" ? () => keys : keys);
  return {
    scheme: { scheme: { case: "httpAuthSecurityScheme", value: { scheme: "Bearer", bearerFormat: "JWT" } } },
    challenge: { scheme: "Bearer" },
    hasScopes: true,
    issuers: [options.issuer],
    verify: (credentials) => verifier.verify(credentials),
  };
}

/** How many verified tokens are remembered, and how long. A token's own end comes first. */
const maxRemembered = 2_000;
const maxRememberedLength = 4 * 1024;
const rememberedMs = 300_000;

interface Remembered {
  readonly caller: Caller;
  readonly until: number;
  readonly keys: number;
}

/** Verifies bearer tokens of one issuer, and remembers those that it has verified. */
export interface JwtVerifier {
  verify(credentials: Credentials): Verdict | Promise<Verdict>;
}

/** @param keys the keys themselves, or what finds their URL before each fetch */
export function createJwtVerifier(
  options: Omit<BearerJwtOptions, "keys">,
  keys: JSONWebKeySet | (() => string | Promise<string>),
): JwtVerifier {
  const {
    issuer,
    audience,
    algorithms = defaultAlgorithms,
    clockSkewSeconds = 30,
    strict = false,
    keysMaxAgeMs = 600_000,
    keysCooldownMs = 30_000,
    fetch = globalThis.fetch,
    now = Date.now,
  } = options;
  const shared = algorithms.find((name) => /^(?:hs|none)/i.test(name));
  if (shared !== undefined) {
    throw new Error(`algorithms of shared secrets are not taken, and ${shared} is one`);
  }
  const [remote, findFor] = openKeys(keys, (url) => {
    return new RemoteKeySet({
      url,
      fetch: withLimits(fetch),
      now,
      maxAgeMs: keysMaxAgeMs,
      cooldownMs: keysCooldownMs,
    });
  });
  const remembered = new RecentMap<string, Remembered>(maxRemembered);

  async function check(token: string, field: string, share: string | undefined): Promise<Verdict> {
    const refusal = preview(token, issuer, algorithms);
    if (refusal !== undefined) return refusal;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, findFor(share), {
        issuer,
        audience: typeof audience === "string" ? audience : [...audience],
        algorithms: [...algorithms],
        clockTolerance: clockSkewSeconds,
        currentDate: new Date(now()),
        requiredClaims: strict ? [...strictClaims] : ["exp", "sub"],
      });
      const type = protectedHeader.typ?.toLowerCase();
      if (
        strict
          ? type !== "at+jwt" && type !== "application/at+jwt"
          : type !== undefined && !accessTokenTypes.has(type)
      ) {
        return { refused: "the token is not an access token" };
      }
      const caller = toCaller(payload, options);
      if ("refused" in caller) return caller;
      const expiresAt = (payload.exp ?? 0) * 1_000 + clockSkewSeconds * 1_000;
      const verified: Caller = { ...caller, expiresAt };
      if (field.length <= maxRememberedLength) {
        const until = Math.min(expiresAt, now() + rememberedMs);
        remembered.set(field, { caller: verified, until, keys: remote?.version ?? 0 });
      }
      return verified;
    } catch (error) {
      return explain(error);
    }
  }

  return {
    verify(credentials) {
      const field = readAuthorization(credentials, "bearer");
      if (typeof field !== "string") return field;
      const known = remembered.get(field);
      if (known !== undefined) {
        if (known.until > now() && known.keys === (remote?.version ?? 0)) return known.caller;
        remembered.delete(field);
      }
      const token = parseBearerToken(field);
      if (typeof token !== "string") return token;
      if (isTaskToken(token)) return undefined; // of another gate
      return check(token, field, credentials.share);
    },
  };
}

function openKeys(
  keys: JSONWebKeySet | (() => string | Promise<string>),
  open: (url: () => string | Promise<string>) => RemoteKeySet,
): readonly [RemoteKeySet | undefined, (share: string | undefined) => JWTVerifyGetKey] {
  if (typeof keys === "function") {
    const remote = open(keys);
    return [remote, (share) => remote.findFor(share)];
  }
  const local = createLocalJWKSet(keys);
  return [undefined, () => local];
}

/** What can be refused without a signature, so that tokens of strangers never lead to a fetch of keys. */
function preview(token: string, issuer: string, algorithms: readonly string[]): Refusal | undefined {
  try {
    const { alg = "", crit } = decodeProtectedHeader(token);
    if (!algorithms.includes(alg))
      return { refused: "the token is signed by an algorithm that is not taken" };
    if (crit !== undefined) return { refused: "the token has extensions that are not known" };
    if (decodeJwt(token).iss !== issuer) return { refused: "the token is of another issuer" };
    return undefined;
  } catch {
    return { refused: "the bearer token is no JWT" };
  }
}

/** @throws ConnectError Unavailable when it could not be found out */
function explain(error: unknown): Refusal {
  if (error instanceof errors.JWTExpired) return { refused: "the token has expired" };
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason } = error;
    if (claim === "nbf") return { refused: "the token is not valid yet" };
    if (claim === "aud") return { refused: "the token is for another audience" };
    if (claim === "iss") return { refused: "the token is of another issuer" };
    return { refused: reason === "missing" ? "the token lacks a claim" : "a claim of the token is wrong" };
  }
  if (error instanceof errors.JOSEError) return { refused: "the token's signature does not hold" };
  if (error instanceof ConnectError) throw error;
  throw new ConnectError("the token cannot be verified now", Code.Unavailable, undefined, undefined, error);
}

/** The caller that verified claims describe. */
export function toCaller(claims: JWTPayload, options: ClaimOptions): Caller | Refusal {
  const principal = (options.principal ?? namedByIssuer)(claims);
  if (typeof principal !== "string" || principal === "") return { refused: "the token names no caller" };
  return {
    principal,
    tenant: options.tenant?.(claims),
    scopes: (options.scopes ?? readScopes)(claims),
    claims: pick(claims, options.claims ?? []),
  };
}

function namedByIssuer({ iss, sub }: Claims): string {
  return typeof sub === "string" && sub !== "" ? `${iss}|${sub}` : "";
}

function readScopes({ scope, scp }: Claims): readonly string[] {
  const value = scope ?? scp;
  if (typeof value === "string") return value.split(" ").filter((each) => each !== "");
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function pick(claims: Claims, names: readonly string[]): JsonObject {
  const chosen = names.filter((name) => Object.hasOwn(claims, name));
  return Object.fromEntries(chosen.map((name) => [name, claims[name] as JsonValue])); // claims came as JSON
}
