import type { AgentHarness } from "@a2a-connect/testing";
import type { JsonObject } from "@bufbuild/protobuf";
import { base64url, createLocalJWKSet, flattenedVerify, type JSONWebKeySet } from "jose";
import { expect } from "vitest";
import { payloadOf } from "../card-signature.ts";
import { type ScenarioGroup, scenarios } from "../scenario.ts";

/** M, the side of the server. */
export const cardSigning: ScenarioGroup = scenarios("M Signatures of cards", (verifies) => {
  verifies(
    "M-1 M-7",
    "are detached, without padding, and over the canonical card, as another implementation sees it",
    async ({ harness }) => {
      const card = await readCard(harness);
      expect(card.signatures).toStrictEqual([
        { protected: expect.stringMatching(/^[\w-]+$/), signature: expect.stringMatching(/^[\w-]{86}$/) },
      ]);
      const [signature] = card.signatures;
      const payload = base64url.encode(payloadOf(card));
      const keys = createLocalJWKSet(await readKeys(harness));
      await expect(flattenedVerify({ ...signature, payload }, keys)).resolves.toBeDefined();
      const changed = base64url.encode(payloadOf({ ...card, description: "" }));
      await expect(flattenedVerify({ ...signature, payload: changed }, keys)).rejects.toThrow("signature");
    },
    { server: "signed" },
  );

  verifies(
    "M-2",
    "name their algorithm, their key and the set that it is in",
    async ({ harness }) => {
      const [signature] = (await readCard(harness)).signatures;
      const header = JSON.parse(new TextDecoder().decode(base64url.decode(signature.protected)));
      const { keys } = await readKeys(harness);
      expect(header).toStrictEqual({
        alg: "ES256",
        typ: "JOSE",
        kid: keys[0]?.kid,
        jku: `${harness.url}/.well-known/jwks.json`,
      });
      expect(Object.keys(keys[0] ?? {})).not.toContain("d");
    },
    { server: "signed" },
  );
});

interface SignedCard extends JsonObject {
  signatures: [{ protected: string; signature: string }];
}

async function readCard(harness: AgentHarness): Promise<SignedCard> {
  return (await harness.fetch("/.well-known/agent-card.json")).json();
}

async function readKeys(harness: AgentHarness): Promise<JSONWebKeySet> {
  return (await harness.fetch("/.well-known/jwks.json")).json();
}
