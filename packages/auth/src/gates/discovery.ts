import { isLoopbackHost } from "@a2a-connect/core/internal";
import * as oauth from "oauth4webapi";
import { type Fetch, parseServerUrl, withLimits } from "./server-fetch.ts";

/** The metadata of an authorization server, found by its issuer. */
export class Discovery {
  readonly issuer: URL;
  readonly #algorithm: "oidc" | "oauth2";
  readonly #fetch: Fetch;
  #found: Promise<oauth.AuthorizationServer> | undefined;

  /** @param algorithm `oidc`: OpenID Connect Discovery; `oauth2`: RFC 8414 @throws Error when the issuer is no https URL */
  constructor(issuer: string, algorithm: "oidc" | "oauth2", fetch: Fetch) {
    this.issuer = parseServerUrl("the issuer", issuer);
    this.#algorithm = algorithm;
    this.#fetch = withLimits(fetch);
  }

  /** Where its metadata is, for the card. */
  get url(): string {
    const { origin, pathname } = this.issuer;
    const path = pathname.replace(/\/$/, "");
    return this.#algorithm === "oidc"
      ? `${origin}${path}/.well-known/openid-configuration`
      : `${origin}/.well-known/oauth-authorization-server${path}`;
  }

  /** What requests to the server need. */
  get requestOptions(): {
    [oauth.customFetch]: (url: string, init: object) => Promise<Response>;
    [oauth.allowInsecureRequests]: boolean;
  } {
    return {
      [oauth.customFetch]: (url, init) => this.#fetch(url, init),
      [oauth.allowInsecureRequests]: isLoopbackHost(this.issuer.hostname),
    };
  }

  /** The metadata; a failure is not kept. @throws Error when they are those of another issuer */
  find(): Promise<oauth.AuthorizationServer> {
    this.#found ??= this.#discover().catch((error: unknown) => {
      this.#found = undefined;
      throw error;
    });
    return this.#found;
  }

  async #discover(): Promise<oauth.AuthorizationServer> {
    const { issuer } = this;
    const options = { algorithm: this.#algorithm, ...this.requestOptions };
    return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));
  }

  /** The URL of its keys. */
  async findKeys(): Promise<string> {
    const { jwks_uri } = await this.find();
    if (jwks_uri === undefined) throw new Error(`${this.issuer.host} names no keys`);
    return jwks_uri;
  }
}
