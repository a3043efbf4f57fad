import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { base64url, exportJWK, FlattenedSign, generateKeyPair, type JWK } from "jose";
import type { SignatureAlgorithm } from "../src/keys/algorithms.ts";
import type { VerificationKey } from "../src/keys/key-type.ts";

/** A key pair as JWKs. */
export interface TestKey {
  readonly public: VerificationKey;
  readonly private: JWK;
}

/** A card with everything REQUIRED and something optional, without signatures. */
export const plainCard: JsonObject = {
  name: "Clerk",
  description: "Keeps books",
  version: "1.0.0",
  supportedInterfaces: [
    { url: "https://agents.example.org/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  ],
  capabilities: { streaming: true },
  securitySchemes: {
    google: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://id.example.org" } },
  },
  securityRequirements: [{ schemes: { google: { list: ["books"] } } }],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "count", name: "Count", description: "Counts", tags: ["numbers"] }],
};

/** A new key pair, made by jose. */
export async function makeKey(kid: string, alg: SignatureAlgorithm = "ES256"): Promise<TestKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { public: { ...(await exportJWK(publicKey)), kid }, private: await exportJWK(privateKey) };
}

/**
 * An entry of `signatures` over a text, made by jose.
 *
 * @param header over the defaults `alg`, `typ` and `kid`; undefined takes one away
 */
export async function signText(
  payload: string,
  key: TestKey,
  header: Readonly<Record<string, JsonValue | undefined>> = {},
): Promise<{ protected: string; signature: string }> {
  const alg = typeof header["alg"] === "string" ? header["alg"] : "ES256";
  const all: Record<string, JsonValue | undefined> = { alg, typ: "JOSE", kid: key.public.kid, ...header };
  const { protected: protectedText = "", signature } = await new FlattenedSign(
    new TextEncoder().encode(payload),
  )
    .setProtectedHeader({ ...dropUndefined(all), alg })
    .sign(key.private as JWK);
  return { protected: protectedText, signature };
}

/** A header as `protected` has it. */
export function encodeHeader(header: object | string): string {
  return base64url.encode(typeof header === "string" ? header : JSON.stringify(header));
}

function dropUndefined(header: Readonly<Record<string, JsonValue | undefined>>): Record<string, JsonValue> {
  const entries = Object.entries(header).filter(
    (entry): entry is [string, JsonValue] => entry[1] !== undefined,
  );
  return Object.fromEntries(entries);
}

/** As {@link signText} with ES256, with whatever header, also such as jose refuses to sign. */
export async function signAnyHeader(
  payload: string,
  key: TestKey,
  header: object | string,
): Promise<{ protected: string; signature: string }> {
  const parameters = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const privateKey = await crypto.subtle.importKey("jwk", key.private, parameters, false, ["sign"]);
  const protectedText = encodeHeader(header);
  const input = new TextEncoder().encode(`${protectedText}.${base64url.encode(payload)}`);
  const signature = new Uint8Array(await crypto.subtle.sign(parameters, privateKey, input));
  return { protected: protectedText, signature: base64url.encode(signature) };
}
