// A real OpenID provider inside the test, and a user with a browser of few words.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from "jose";
import { Provider } from "oidc-provider";

export const client = { id: "orchestrator", secret: "orchestrators-secret" };
export const checker = { id: "agents", secret: "agents-secret" };
/** A program of a user: it has no secret. */
export const program = { id: "program", redirectUri: "http://127.0.0.1:7777/back" };
export const scopes = "a2a:tasks:create a2a:tasks:read";

const exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange";
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

export interface TestProvider {
  readonly issuer: string;
  /** How often each path was asked. */
  readonly asked: ReadonlyMap<string, number>;
  /** The bodies of requests for tokens. */
  readonly tokenRequests: readonly URLSearchParams[];
  token(resource: string, scope?: string): Promise<string>;
  revoke(token: string): Promise<unknown>;
  close(): void;
}

export async function startProvider(): Promise<TestProvider> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked = new Map<string, number>();
  const tokenRequests: URLSearchParams[] = [];
  const allowed = {
    grant_types: ["client_credentials", exchangeGrant],
    redirect_uris: [],
    response_types: [],
  };
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "k", alg: "RS256", use: "sig" }] },
    scopes: ["openid", "offline_access", "a2a:tasks:create", "a2a:tasks:read"],
    clients: [
      { client_id: client.id, client_secret: client.secret, ...allowed },
      { client_id: checker.id, client_secret: checker.secret, ...allowed },
      {
        client_id: program.id,
        token_endpoint_auth_method: "none",
        application_type: "native",
        grant_types: ["authorization_code", "refresh_token", deviceGrant],
        redirect_uris: [program.redirectUri, "http://127.0.0.1/back"], // any port of this machine (RFC 8252 §7.3)
        response_types: ["code"],
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx: unknown, resource: string) => ({
          scope: scopes,
          audience: resource,
          accessTokenTTL: 600,
          accessTokenFormat: resource.endsWith("/opaque") ? "opaque" : "jwt",
        }),
      },
    },
  });
  // The library has no exchange of tokens (RFC 8693) of its own.
  provider.registerGrantType(
    exchangeGrant,
    async (context) => {
      const { subject_token = "", actor_token, resource = "", scope = "" } = context.oidc.params;
      const { payload: subject } = await jwtVerify(subject_token, publicKey, { issuer });
      const actor =
        actor_token === undefined ? undefined : (await jwtVerify(actor_token, publicKey, { issuer })).payload;
      const claims = { scope, ...(actor && { act: { sub: actor.sub } }) };
      context.body = {
        access_token: await new SignJWT(claims)
          .setProtectedHeader({ alg: "RS256", kid: "k", typ: "at+jwt" })
          .setIssuer(issuer)
          .setSubject(subject.sub ?? "")
          .setAudience(resource)
          .setIssuedAt()
          .setExpirationTime("10m")
          .sign(privateKey),
        issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
        token_type: "Bearer",
        expires_in: 600,
        scope,
      };
    },
    ["subject_token", "subject_token_type", "actor_token", "actor_token_type", "resource", "scope"],
  );
  server.on("request", (request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    asked.set(path, (asked.get(path) ?? 0) + 1);
    if (path === "/token") {
      let text = "";
      request.on("data", (chunk) => {
        text += chunk;
      });
      request.on("end", () => tokenRequests.push(new URLSearchParams(text)));
    }
    provider.callback()(request, response);
  });
  const post = (path: string, body: Record<string, string>) =>
    fetch(issuer + path, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
      body: new URLSearchParams(body),
    });
  return {
    issuer,
    asked,
    tokenRequests,
    async token(resource, scope = scopes) {
      const response = await post("/token", { grant_type: "client_credentials", resource, scope });
      return (await response.json()).access_token;
    },
    revoke: (token) => post("/token/revocation", { token }),
    close: () => server.close(),
  };
}

/**
 * A user who opens a URL of the provider, logs in and agrees to everything.
 *
 * @returns the URL outside of the provider to which the browser is sent, or the last page
 */
export async function browse(start: URL, user = "alice"): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = start;
  let body: URLSearchParams | undefined;
  for (let steps = 0; steps < 20; steps++) {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join("; ") },
      ...(body === undefined ? {} : { method: "POST", body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    body = undefined;
    if (location !== null) {
      url = new URL(location, url);
      if (url.origin !== start.origin) return url;
      continue;
    }
    const html = await response.text();
    const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1];
    if (action === undefined) return url;
    const inputs = html.matchAll(/<input[^>]* name="([^"]+)"(?:[^>]* value="([^"]*)")?/g);
    body = new URLSearchParams(Array.from(inputs, ([, name = "", value = ""]) => [name, value]));
    for (const [, name = "", value = ""] of html.matchAll(/name="([^"]+)" value="([^"]*)"/g))
      body.set(name, value);
    if (body.has("login")) {
      body.set("login", user);
      body.set("password", "any");
    }
    if (body.has("user_code")) body.set("confirm", "yes");
    url = new URL(action, url);
  }
  throw new Error(`no end after ${url.href}`);
}
