import { RecentMap, SharedRequest, shownText } from "@a2a-connect/core/internal";
import * as oauth from "oauth4webapi";
import { type PermittedServer, requestOptions } from "./authorization-server.ts";
import { clientCredentials, type Grant, type TokenRequest } from "./grants.ts";

/** A client of an authorization server. */
export interface OAuthClient extends PermittedServer {
  readonly id: string;
  /** Of a confidential client. A client without one says who it is by its id alone. */
  readonly secret?: string;
  /**
   * For which resource tokens are (RFC 8707). Default: the URL of the agent, as its card's is without `/.well-known/…`. `false`
   * asks for none.
   */
  readonly audience?: string | false;
  /** Default: those that the card requires, else those of its flow. */
  readonly scopes?: readonly string[];
  /** Further parameters of token requests, such as Auth0's `audience`. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Where tokens are kept. Default: in memory. */
  readonly store?: TokenStore;
  /**
   * How a token is got where there is none, and none to renew. Default: by client credentials where there is a secret; else only tokens
   * of `store` are used.
   */
  readonly grant?: Grant;
}

/** Tokens of one client for one audience. */
export interface StoredTokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since 1970; undefined where the server does not say. */
  readonly expiresAt?: number;
}

/** Keeps tokens. Its keys name server, client, audience and scopes, and are no secrets. */
export interface TokenStore {
  get(key: string): Promise<StoredTokens | undefined>;
  /** @param tokens undefined: forget them */
  set(key: string, tokens: StoredTokens | undefined): Promise<void>;
}

/** A token that expires within this time is renewed first, so that it does not expire on the way. */
const leewayMs = 30_000;

/** Most tokens that are kept in memory: one for each agent, user and choice of scopes. */
const maxTokens = 1_000;

/** Tokens for one purpose. */
interface Entry {
  readonly renewal: SharedRequest<string>;
  tokens?: StoredTokens | undefined;
  /** When they were got, by the client's clock. */
  since: number;
}

/** Gets, keeps and renews the tokens of one client, each once at a time. */
export class Tokens {
  readonly #client: OAuthClient;
  readonly #now: () => number;
  readonly #entries = new RecentMap<string, Entry>(maxTokens);

  constructor(client: OAuthClient, now: () => number) {
    this.#client = client;
    this.#now = now;
  }

  /** @throws Error when the server gives none */
  async get(request: TokenRequest): Promise<string> {
    const { server, audience, scopes, signal } = request;
    const { id, grant } = this.#client;
    const subject = await grant?.identify?.();
    const key = JSON.stringify([server.issuer, id, audience ?? null, scopes.toSorted(), ...(subject ?? [])]);
    const entry = this.#entries.get(key) ?? { renewal: new SharedRequest(), since: 0 };
    this.#entries.set(key, entry);
    return (
      freshToken(entry.tokens, this.#now()) ??
      (await entry.renewal.join((all) => this.#renew(key, entry, { ...request, signal: all }), signal))
    );
  }

  /**
   * The agent has refused this token: another one is got for the next call.
   *
   * @returns whether that may help. A token that was new is no better than the one after it.
   */
  refused(accessToken: string): boolean {
    for (const entry of this.#entries.values()) {
      if (entry.tokens?.accessToken !== accessToken) continue;
      if (this.#now() - entry.since < leewayMs) return false;
      entry.tokens = { ...entry.tokens, accessToken: "" };
      return true;
    }
    return false;
  }

  async #renew(key: string, entry: Entry, request: TokenRequest): Promise<string> {
    const { store } = this.#client;
    const known = entry.tokens ?? (await store?.get(key));
    const fresh = freshToken(known, this.#now());
    if (fresh !== undefined) {
      entry.tokens = known;
      return fresh;
    }
    const refreshed =
      known?.refreshToken === undefined ? undefined : await this.#refresh(known.refreshToken, request);
    if (refreshed === undefined && known !== undefined) {
      entry.tokens = undefined;
      await store?.set(key, undefined);
    }
    const tokens = refreshed ?? (await this.#obtain(request));
    entry.tokens = tokens;
    entry.since = this.#now();
    await store?.set(key, tokens);
    return tokens.accessToken;
  }

  /** Undefined when the refresh token no longer counts: it has expired, or another client has used it. */
  async #refresh(refreshToken: string, request: TokenRequest): Promise<StoredTokens | undefined> {
    const { server, audience, fetch } = request;
    const { client, authentication } = this.#identity();
    try {
      const response = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, {
        ...requestOptions(server, fetch),
        additionalParameters: {
          ...this.#client.parameters,
          ...(audience === undefined ? {} : { resource: audience }),
        },
      });
      const answer = await oauth.processRefreshTokenResponse(server, client, response);
      return toTokens(answer, this.#now(), refreshToken);
    } catch (error) {
      if (error instanceof oauth.ResponseBodyError && error.error === "invalid_grant") return undefined;
      throw this.#failed(server, error);
    }
  }

  async #obtain(request: TokenRequest): Promise<StoredTokens> {
    const { server, audience, scopes } = request;
    const {
      secret,
      parameters,
      issuer,
      grant = secret === undefined ? undefined : clientCredentials,
    } = this.#client;
    if (grant === undefined) {
      throw new Error(`there is no token of ${server.issuer}, or it has expired: log in`);
    }
    const asked = {
      ...parameters,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
      ...(audience === undefined ? {} : { resource: audience }),
    };
    const answer = await grant
      .obtain({ ...request, ...this.#identity(), parameters: asked, issuer })
      .catch((error: unknown) => {
        throw this.#failed(server, error);
      });
    return toTokens(answer, this.#now());
  }

  #identity(): { readonly client: oauth.Client; readonly authentication: oauth.ClientAuth } {
    const { id, secret } = this.#client;
    return {
      client: { client_id: id },
      authentication: secret === undefined ? oauth.None() : oauth.ClientSecretBasic(secret),
    };
  }

  /** The error of a server in its own words. Its cause may hold requests with secrets, and is left out. */
  #failed({ issuer }: oauth.AuthorizationServer, error: unknown): Error {
    const isAnswer =
      error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError;
    const refused = error instanceof oauth.WWWAuthenticateChallengeError ? error.cause[0] : undefined;
    const { error: code, error_description: words = "" } = isAnswer
      ? error
      : { error: reasonOf(error), ...refused?.parameters };
    const { secret = "" } = this.#client;
    const echoes = secret !== "" && words.includes(secret);
    return new Error(
      `${shownText(issuer)} gives no token: ${shownText(code)}${words === "" || echoes ? "" : ` (${shownText(words)})`}`,
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : "it cannot be reached";
}

function freshToken(tokens: StoredTokens | undefined, now: number): string | undefined {
  const { accessToken = "", expiresAt = Number.POSITIVE_INFINITY } = tokens ?? {};
  return accessToken !== "" && expiresAt - leewayMs > now ? accessToken : undefined;
}

function toTokens(
  { access_token, refresh_token, expires_in }: oauth.TokenEndpointResponse,
  now: number,
  before?: string,
): StoredTokens {
  const refreshToken = refresh_token ?? before;
  return {
    accessToken: access_token,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(expires_in === undefined ? {} : { expiresAt: now + expires_in * 1_000 }),
  };
}
