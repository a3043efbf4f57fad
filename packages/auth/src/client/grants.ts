import {
  longestTimerMs,
  pause,
  sha256Hex,
  shownList,
  startTimer,
  withinTime,
} from "@a2a-connect/core/internal";
import * as oauth from "oauth4webapi";
import type { Fetch } from "../gates/server-fetch.ts";
import { refuseMixUp, requestOptions } from "./authorization-server.ts";

/** A secret, or what gives it anew for each call. */
export type Secret = string | (() => string | Promise<string>);

/** For what a token is wanted. */
export interface TokenRequest {
  readonly server: oauth.AuthorizationServer;
  readonly audience: string | undefined;
  readonly scopes: readonly string[];
  readonly fetch: Fetch;
  readonly signal: AbortSignal | undefined;
}

/** A way to get a token of an authorization server. */
export interface Grant {
  /** For whom it gets tokens, where that is not always the same: those of one are never used for another. */
  identify?(): Promise<readonly string[]>;
  /** @throws Error when the user or the server refuses, or an answer belongs to another request */
  obtain(request: GrantRequest): Promise<oauth.TokenEndpointResponse>;
}

/** What a grant asks for, and as which client. */
export interface GrantRequest extends TokenRequest {
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
  /** Parameters of the request: `scope`, `resource`, and the caller's own. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The issuer that the caller has named. */
  readonly issuer: string | undefined;
}

/** The client for itself (RFC 6749 §4.4). */
export const clientCredentials: Grant = {
  async obtain({ server, client, authentication, parameters, fetch }) {
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authentication,
      parameters,
      requestOptions(server, fetch),
    );
    return oauth.processClientCredentialsResponse(server, client, response);
  },
};

/** What a user is shown who logs in by a code. */
export interface DevicePrompt {
  /** Where the code is typed in. */
  readonly url: string;
  /** The same with the code in it, where the server has one. */
  readonly completeUrl: string | undefined;
  readonly code: string;
  readonly expiresInSeconds: number;
}

/**
 * A user who types a code in on any device (RFC 8628). The login fails when the code has expired, also where the server never says so.
 * A lost connection, or an error of the server, does not end it: the server is asked again, less often.
 *
 * @param show tells them where, and which
 */
export function deviceLogin(show: (prompt: DevicePrompt) => void | Promise<void>): Grant {
  return {
    async obtain(request) {
      const { server, client, authentication, fetch, signal } = request;
      const asked = await oauth.deviceAuthorizationRequest(
        server,
        client,
        authentication,
        withRefresh(request),
        requestOptions(server, fetch),
      );
      const begun = await oauth.processDeviceAuthorizationResponse(server, client, asked);
      const late = new Error(`the code has expired: it was not confirmed within ${begun.expires_in} seconds`);
      return await withinTime(
        toDelayMs(begun.expires_in),
        late,
        async (stopped) => {
          await show({
            url: begun.verification_uri,
            completeUrl: begun.verification_uri_complete,
            code: begun.user_code,
            expiresInSeconds: begun.expires_in,
          });
          return await pollForToken(request, begun, stopped, late);
        },
        { signal },
      );
    },
  };
}

/**
 * Asks for the token in the server's interval, until the user has confirmed the code.
 *
 * @param late tells of the end of the code, and of the last request that failed, as its cause
 */
async function pollForToken(
  request: GrantRequest,
  { device_code, interval = 5 }: oauth.DeviceAuthorizationResponse,
  stopped: AbortSignal,
  late: Error,
): Promise<oauth.TokenEndpointResponse> {
  const { server, client, authentication, fetch } = request;
  const options = { ...requestOptions(server, fetch), additionalParameters: resourceOf(request) };
  for (let seconds = interval; ; ) {
    await pause(toDelayMs(seconds), startTimer, stopped);
    stopped.throwIfAborted();
    try {
      const response = await oauth.deviceCodeGrantRequest(
        server,
        client,
        authentication,
        device_code,
        options,
      );
      return await oauth.processDeviceCodeResponse(server, client, response);
    } catch (error) {
      const code = error instanceof oauth.ResponseBodyError ? error.error : undefined;
      if (isPassing(error)) {
        seconds *= 2; // RFC 8628 §3.5
        late.cause = error;
      } else {
        if (code === "slow_down") seconds += 5;
        else if (code !== "authorization_pending") throw error;
        delete late.cause;
      }
    }
  }
}

/** Whether a failed request tells of the network or of the server's state, not of the login. */
function isPassing(error: unknown): boolean {
  if (error instanceof oauth.ResponseBodyError) return error.status >= 500;
  if (error instanceof oauth.OperationProcessingError) {
    return error.cause instanceof Response && error.cause.status >= 500;
  }
  const isLost = error instanceof TypeError && !("code" in error); // one with a code tells of a wrong argument
  return isLost || (error instanceof DOMException && error.name === "TimeoutError");
}

/** A server may name any number of seconds, and a timer of more than the longest fires at once. */
function toDelayMs(seconds: number): number {
  return Math.min(seconds * 1_000, longestTimerMs);
}

/** A browser in which a user logs in. */
export interface BrowserLogin {
  /** Where the browser comes back to. */
  readonly redirectUri: string;
  /** Sends the user to a URL. @returns the URL that the browser came back to */
  open(url: URL, signal: AbortSignal | undefined): Promise<URL>;
}

/** A user who logs in with a browser: authorization code with PKCE (RFC 6749 §4.1, RFC 7636). */
export function browserLogin({ redirectUri, open }: BrowserLogin): Grant {
  return {
    async obtain(request) {
      const { server, client, authentication, fetch, signal, issuer } = request;
      refuseMixUp(server, issuer);
      const verifier = oauth.generateRandomCodeVerifier();
      const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
      const asked = withRefresh(request);
      const isOpenId = asked["scope"]?.split(" ").includes("openid") === true;
      const url = new URL(server.authorization_endpoint ?? "");
      const parameters = {
        ...asked,
        client_id: client.client_id,
        redirect_uri: redirectUri,
        response_type: "code",
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        ...(isOpenId ? { nonce } : {}),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      const back = oauth.validateAuthResponse(server, client, await open(url, signal), state);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        back,
        redirectUri,
        verifier,
        { ...requestOptions(server, fetch), additionalParameters: resourceOf(request) },
      );
      return oauth.processAuthorizationCodeResponse(server, client, response, {
        expectedNonce: isOpenId ? nonce : oauth.expectNoNonce,
        requireIdToken: isOpenId,
      });
    },
  };
}

/** For whom an agent acts, and as who. */
export interface ExchangeOptions {
  /** An access token of the user. It is sent to the authorization server alone. */
  readonly subject: Secret;
  /** An access token of the agent itself: the new token says that it acts for the user (`act`). */
  readonly actor?: Secret;
  /** Whether the new token may be as if the user had come themselves, where there is no `actor`. Default false. */
  readonly impersonate?: boolean;
}

/**
 * An agent on behalf of a user: exchanges the user's token for one that is for the agent which is called (RFC 8693).
 *
 * @throws Error without `actor` and `impersonate`
 */
export function exchange({ subject, actor, impersonate = false }: ExchangeOptions): Grant {
  if (actor === undefined && !impersonate) {
    throw new Error("exchange needs a token of the agent itself (`actor`), or `impersonate: true`");
  }
  const type = "urn:ietf:params:oauth:token-type:access_token";
  return {
    identify: async () => [await digestOf(subject)],
    async obtain({ server, client, authentication, parameters, scopes, fetch }) {
      const response = await oauth.genericTokenEndpointRequest(
        server,
        client,
        authentication,
        "urn:ietf:params:oauth:grant-type:token-exchange",
        {
          ...parameters,
          subject_token: await read(subject),
          subject_token_type: type,
          ...(actor === undefined ? {} : { actor_token: await read(actor), actor_token_type: type }),
        },
        requestOptions(server, fetch),
      );
      const answer = await oauth.processGenericTokenEndpointResponse(server, client, response);
      const asked = new Set(scopes);
      const more = answer.scope?.split(" ").filter((scope) => !asked.has(scope)) ?? [];
      if (scopes.length > 0 && more.length > 0) {
        throw new Error(`the new token has scopes that were not asked for: ${shownList(more)}`);
      }
      return answer;
    },
  };
}

/** A client with an assertion of another server that says for whom it acts (RFC 7523). @param assertion a JWT */
export function jwtBearer(assertion: Secret): Grant {
  return {
    identify: async () => [await digestOf(assertion)],
    async obtain({ server, client, authentication, parameters, fetch }) {
      const response = await oauth.genericTokenEndpointRequest(
        server,
        client,
        authentication,
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        { ...parameters, assertion: await read(assertion) },
        requestOptions(server, fetch),
      );
      return oauth.processGenericTokenEndpointResponse(server, client, response);
    },
  };
}

/** A user does not want to log in again each hour: a refresh token is asked for where the server has them (OpenID Connect §11). */
function withRefresh({ server, parameters }: GrantRequest): Record<string, string> {
  if (server.scopes_supported?.includes("offline_access") !== true) return { ...parameters };
  const scopes = new Set([...(parameters["scope"]?.split(" ") ?? []), "offline_access"]);
  return { ...parameters, scope: [...scopes].join(" "), prompt: "consent" };
}

function resourceOf({ parameters }: GrantRequest): Record<string, string> {
  const { resource } = parameters;
  return resource === undefined ? {} : { resource };
}

async function read(secret: Secret): Promise<string> {
  return typeof secret === "string" ? secret : await secret();
}

async function digestOf(secret: Secret): Promise<string> {
  return await sha256Hex(await read(secret));
}
