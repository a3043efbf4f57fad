import { ownText, RecentMap, sha256Hex } from "@a2a-connect/core/internal";
import type { OAuthFlowsSchema } from "@a2a-connect/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { decodeJwt } from "jose";
import * as oauth from "oauth4webapi";
import type { AuthGate, Caller, Verdict } from "../gate.ts";
import { type BearerJwtOptions, createJwtVerifier, toCaller } from "./bearer-jwt.ts";
import { readBearerToken } from "./bearer-token.ts";
import { CheckTurns } from "./check-turns.ts";
import { Discovery } from "./discovery.ts";
import { isTaskToken } from "./task-token.ts";

/** An authorization server, and which of its tokens count. */
export interface OAuthOptions extends Omit<BearerJwtOptions, "keys"> {
  /** How clients get tokens, for the card. Default: by client credentials, at the endpoint that the issuer names in its metadata. */
  readonly flows: MessageInitShape<typeof OAuthFlowsSchema>;
  /**
   * Asks the authorization server about each token (RFC 7662) instead of verifying it as a JWT: tokens may be opaque, and end as
   * soon as the server takes them back.
   */
  readonly introspection?: {
    readonly clientId: string;
    readonly clientSecret: string;
    /** How long an answer counts, in milliseconds. Default 10,000. */
    readonly maxAgeMs?: number;
  };
}

/** Answers that are remembered, and questions that are under way at a time, half of them for one sender. */
const maxAnswers = 2_000;
const maxQuestions = 64;

/** A longer token is remembered by its digest, which takes a turn on a thread: the longest ones would take 32 MB. */
const longestName = 1_024;

/**
 * A gate for access tokens of an OAuth 2.0 authorization server, whose metadata (RFC 8414) are found by its issuer.
 *
 * @throws Error when the issuer is no https URL
 */
export function oauth2(options: OAuthOptions): AuthGate {
  const { issuer, flows, introspection, fetch = globalThis.fetch } = options;
  const discovery = new Discovery(issuer, "oauth2", fetch);
  const verifier =
    introspection === undefined
      ? createJwtVerifier(options, () => discovery.findKeys())
      : new Introspection(options, introspection, discovery);
  return {
    scheme: {
      scheme: { case: "oauth2SecurityScheme", value: { flows, oauth2MetadataUrl: discovery.url } },
    },
    challenge: { scheme: "Bearer" },
    hasScopes: true,
    issuers: [issuer],
    verify: (credentials) => verifier.verify(credentials),
  };
}

class Introspection {
  readonly #options: OAuthOptions;
  readonly #client: oauth.Client;
  readonly #secret: oauth.ClientAuth;
  readonly #maxAgeMs: number;
  readonly #discovery: Discovery;
  readonly #now: () => number;
  readonly #answers = new RecentMap<string, { readonly verdict: Verdict; readonly until: number }>(
    maxAnswers,
  );
  /** Both by the names of tokens. */
  readonly #questions = new Map<string, Promise<Verdict>>();
  readonly #turns = new CheckTurns({
    max: maxQuestions,
    maxOfOne: maxQuestions / 2,
    wrongComeLast: false, // a client gets as many right tokens as it likes, and the token of another has expired
    what: "tokens",
  });

  constructor(
    options: OAuthOptions,
    { clientId, clientSecret, maxAgeMs = 10_000 }: NonNullable<OAuthOptions["introspection"]>,
    discovery: Discovery,
  ) {
    this.#options = options;
    this.#client = { client_id: clientId };
    this.#secret = oauth.ClientSecretBasic(clientSecret);
    this.#maxAgeMs = maxAgeMs;
    this.#discovery = discovery;
    this.#now = options.now ?? Date.now;
  }

  verify(credentials: Parameters<AuthGate["verify"]>[0]): Verdict | Promise<Verdict> {
    const token = readBearerToken(credentials);
    if (typeof token !== "string") return token;
    // What is not this server's to see is not shown to it.
    if (isTaskToken(token)) return undefined;
    if (issuerOf(token) !== undefined && issuerOf(token) !== this.#options.issuer) {
      return { refused: "the token is of another issuer" };
    }
    const { share } = credentials; // without the signal: other calls may wait for the same answer
    return token.length <= longestName
      ? this.#find(ownText(token), token, share)
      : digestOf(token).then((name) => this.#find(name, token, share));
  }

  /** @param name what the token is remembered by */
  #find(name: string, token: string, share: string | undefined): Verdict | Promise<Verdict> {
    const known = this.#answers.get(name);
    if (known !== undefined && known.until > this.#now()) return known.verdict;
    const running = this.#questions.get(name);
    if (running !== undefined) return running;
    const question = this.#turns
      .check({ share }, () => this.#ask(name, token))
      .finally(() => this.#questions.delete(name));
    this.#questions.set(name, question);
    return question;
  }

  async #ask(name: string, token: string): Promise<NonNullable<Verdict>> {
    let answer: oauth.IntrospectionResponse;
    try {
      const server = await this.#discovery.find();
      const response = await oauth.introspectionRequest(
        server,
        this.#client,
        this.#secret,
        token,
        this.#discovery.requestOptions,
      );
      answer = await oauth.processIntrospectionResponse(server, this.#client, response);
    } catch (error) {
      throw new ConnectError(
        "the token cannot be checked now",
        Code.Unavailable,
        undefined,
        undefined,
        error,
      );
    }
    const verdict = this.#judge(answer);
    const { expiresAt = Number.POSITIVE_INFINITY } = verdict as Partial<Caller>;
    const until = Math.min(expiresAt, this.#now() + this.#maxAgeMs);
    this.#answers.set(name, { verdict, until });
    return verdict;
  }

  #judge(answer: oauth.IntrospectionResponse): NonNullable<Verdict> {
    const { issuer, audience } = this.#options;
    const { active, iss = issuer, aud = [], exp, nbf } = answer;
    const now = this.#now();
    if (!active) return { refused: "the token is not active" };
    if (iss !== issuer) return { refused: "the token is of another issuer" };
    if (typeof nbf === "number" && nbf * 1_000 > now) return { refused: "the token is not valid yet" };
    if (exp !== undefined && exp * 1_000 <= now) return { refused: "the token has expired" };
    const wanted = new Set(typeof audience === "string" ? [audience] : audience);
    if (![aud].flat().some((each) => wanted.has(each)))
      return { refused: "the token is for another audience" };
    // A token of a client for itself has no subject at some servers.
    const claims = { ...answer, iss, sub: answer.sub ?? answer.client_id ?? "" };
    const caller = toCaller(claims, this.#options);
    return "refused" in caller || exp === undefined ? caller : { ...caller, expiresAt: exp * 1_000 };
  }
}

/** With a space, which no token has. */
async function digestOf(token: string): Promise<string> {
  return `sha256 ${await sha256Hex(token)}`;
}

/** The issuer of a token that is a JWT, before anything of it is verified; undefined for one that does not say. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}
