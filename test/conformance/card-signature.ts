import { formatMessage } from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import canonicalize from "canonicalize";
import { calculateJwkThumbprint, exportJWK, FlattenedSign, generateKeyPair, type JWK } from "jose";

// Signatures made without any code of ours: a card as our servers format it has nothing that would have to be left out.

/** A key pair for ES256. */
export interface TestKey {
  readonly kid: string;
  readonly privateJwk: JWK;
  readonly publicJwk: JWK & { readonly kid: string };
}

/** A key pair of its own. */
export async function createTestKey(): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  return { kid, privateJwk: { ...(await exportJWK(privateKey)), kid }, publicJwk: { ...publicJwk, kid } };
}

/** What is signed of a card. */
export function payloadOf({ signatures: _, ...card }: JsonObject): Uint8Array {
  return new TextEncoder().encode(canonicalize(card));
}

/** Adds a signature to a card. `header` replaces what the protected header has by default. */
export async function addSignature(
  card: AgentCard,
  { kid, privateJwk }: TestKey,
  { header = {}, payload }: { readonly header?: JsonObject; readonly payload?: Uint8Array } = {},
): Promise<void> {
  const json = formatMessage(AgentCardSchema, card) as JsonObject; // a card is an object in JSON
  const jws = await new FlattenedSign(payload ?? payloadOf(json))
    .setProtectedHeader({ alg: "ES256", typ: "JOSE", kid, ...header })
    .sign({ ...privateJwk, alg: "ES256" }, { crit: { "x-unknown": true } });
  card.signatures.push({
    $typeName: "lf.a2a.v1.AgentCardSignature",
    protected: jws.protected ?? "",
    signature: jws.signature,
  });
}
