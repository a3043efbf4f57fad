// An issuer of access tokens inside the test: its keys, and tokens as they should and should not be.

import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from "jose";

/** This server as the issuer names it. */
export const audience = "https://agents.example";

/** What a token says. `null` leaves a claim out. */
export interface TokenInit {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Seconds from now. Default 300. */
  readonly lifeSeconds?: number;
}

export interface TestIssuer {
  readonly issuer: string;
  readonly keys: JSONWebKeySet;
  /** A token for this server with both scopes. */
  token(sub: string, init?: TokenInit): Promise<string>;
  /** Takes another key pair from now on; `keys` has both. */
  rotate(): Promise<void>;
}

export async function createIssuer(issuer = "https://id.example"): Promise<TestIssuer> {
  const keys: { keys: JSONWebKeySet["keys"][number][] } = { keys: [] };
  let current: { readonly kid: string; readonly key: CryptoKey };
  const rotate = async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    const kid = `key-${keys.keys.length + 1}`;
    keys.keys.push({ ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" });
    current = { kid, key: privateKey };
  };
  await rotate();
  return {
    issuer,
    keys,
    rotate,
    token(sub, { claims = {}, header = {}, lifeSeconds = 300 } = {}) {
      const now = Math.floor(Date.now() / 1_000);
      const all = {
        iss: issuer,
        sub,
        aud: audience,
        iat: now,
        exp: now + lifeSeconds,
        scope: "a2a:tasks:create a2a:tasks:read",
        ...claims,
      };
      const kept = Object.entries(all).filter(([, value]) => value !== null);
      return new SignJWT(Object.fromEntries(kept) as JWTPayload)
        .setProtectedHeader({ alg: "ES256", kid: current.kid, typ: "at+jwt", ...header })
        .sign(current.key);
    },
  };
}
