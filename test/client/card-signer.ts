import { type AgentCard, AgentCardSignatureSchema } from "@a2a-connect/proto";
import type { VerificationKey } from "@a2a-connect/signing";
import { canonicalCard } from "@a2a-connect/signing/canonical";
import { create, type JsonObject } from "@bufbuild/protobuf";
import { exportJWK, FlattenedSign, generateKeyPair, type JWSHeaderParameters } from "jose";

/** Somebody who signs cards by the specification, with a library for signatures that is not ours. */
export interface TestSigner {
  readonly publicKey: VerificationKey;
  /** Puts a signature beside those that a message has, and gives the message. */
  sign(card: AgentCard): Promise<AgentCard>;
  /** The text of a card with a signature beside those that it has. */
  signText(card: JsonObject): Promise<string>;
}

/** Makes a key for ES256. @param header further members of the protected header, such as `jku` */
export async function createSigner(kid: string, header: JWSHeaderParameters = {}): Promise<TestSigner> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");

  async function signatureOf(card: AgentCard | string) {
    const jws = await new FlattenedSign(new TextEncoder().encode(canonicalCard(card)))
      .setProtectedHeader({ alg: "ES256", kid, typ: "JOSE", ...header })
      .sign(privateKey);
    return { protected: jws.protected ?? "", signature: jws.signature };
  }

  return {
    publicKey: { ...(await exportJWK(publicKey)), kid, alg: "ES256" },
    async sign(card) {
      card.signatures.push(create(AgentCardSignatureSchema, await signatureOf(card)));
      return card;
    },
    async signText(card) {
      const { signatures } = card;
      const signed = Array.isArray(signatures) ? signatures : [];
      return JSON.stringify({ ...card, signatures: [...signed, await signatureOf(JSON.stringify(card))] });
    },
  };
}
