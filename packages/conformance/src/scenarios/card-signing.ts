import { pruneUnsigned } from "@a2a-connect/signing/canonical";
import type { JsonObject } from "@bufbuild/protobuf";
import canonicalize from "canonicalize";
import { base64url, createLocalJWKSet, flattenedVerify, type JSONWebKeySet } from "jose";
import { listOf } from "../card-facts.ts";
import { expect } from "../expect.ts";
import { NotApplicable, type ScenarioGroup, scenarios } from "../scenario.ts";
import type { Target } from "../target.ts";

/** M, the side of the server. */
export const cardSigning: ScenarioGroup = scenarios("M Signatures of cards", ({ verifies, anyAgent }) => {
  const signed = verifies.where({ server: "signed" });
  const signedAgent = anyAgent.where({ server: "signed", when: ["signatures"] });

  signed(
    "M-1 M-7",
    "are detached, without padding, and over the canonical card, as another implementation sees it",
    async ({ target }) => {
      const card = await servedCard(target);
      expect(card.signatures).toStrictEqual([
        { protected: expect.stringMatching(/^[\w-]+$/), signature: expect.stringMatching(/^[\w-]{86}$/) },
      ]);
      const [signature] = card.signatures;
      const payload = base64url.encode(payloadOf(card));
      const keys = createLocalJWKSet(await readKeys(target));
      await expect(flattenedVerify({ ...signature, payload }, keys)).resolves.toBeDefined();
      const changed = base64url.encode(payloadOf({ ...card, description: "" }));
      await expect(flattenedVerify({ ...signature, payload: changed }, keys)).rejects.toThrow("signature");
    },
  );

  signedAgent(
    "M-1 M-2",
    "have a header with an algorithm and a key, all of it without padding",
    async ({ target }) => {
      for (const { protected: header, signature } of listOf(target.card["signatures"])) {
        expect([header, signature]).toStrictEqual([
          expect.stringMatching(/^[\w-]+$/),
          expect.stringMatching(/^[\w-]+$/),
        ]);
        const { alg, kid, typ = "JOSE" } = readHeader(String(header));
        expect([alg, kid, typ]).toStrictEqual([
          expect.stringMatching(/^(?!none$|HS)\w+/),
          expect.stringMatching(/./),
          "JOSE",
        ]);
      }
    },
  );

  signedAgent("M-1 M-7", "can be verified with the key set that they name", async ({ target, note }) => {
    const signed = listOf(target.card["signatures"]).flatMap(({ protected: header, signature }) => {
      const { jku } = readHeader(String(header));
      return typeof jku === "string"
        ? [{ jku, protected: String(header), signature: String(signature) }]
        : [];
    });
    if (signed.length === 0) throw new NotApplicable("no signature names a key set (jku)");
    const card = target.card as JsonObject; // a card was JSON
    const [canonical, whole] = [payloadOf(pruneUnsigned(card)), payloadOf(card)].map((bytes) =>
      base64url.encode(bytes),
    );
    for (const { jku, ...signature } of signed) {
      const keys = createLocalJWKSet((await (await target.fetchFrom(jku)).json()) as JSONWebKeySet);
      const verify = (payload = "") => flattenedVerify({ ...signature, payload }, keys);
      await verify(canonical).catch(async (error: unknown) => {
        await verify(whole).catch(() => {
          throw error;
        });
        note("What is signed is the card with its defaults, which spec §8.4.1 leaves out.");
      });
    }
  });

  signed("M-2", "name their algorithm, their key and the set that it is in", async ({ target }) => {
    const [signature] = (await servedCard(target)).signatures;
    const header = readHeader(signature.protected);
    const { keys } = await readKeys(target);
    expect(header).toStrictEqual({
      alg: "ES256",
      typ: "JOSE",
      kid: keys[0]?.kid,
      jku: `${target.url}/.well-known/jwks.json`,
    });
    expect(Object.keys(keys[0] ?? {})).not.toContain("d");
  });
});

function readHeader(text: string): Readonly<Record<string, unknown>> {
  return JSON.parse(new TextDecoder().decode(base64url.decode(text)));
}

interface SignedCard extends JsonObject {
  signatures: [{ protected: string; signature: string }];
}

/** What is signed of a card, by a canonicalization that is not ours. */
function payloadOf({ signatures: _, ...card }: JsonObject): Uint8Array {
  return new TextEncoder().encode(canonicalize(card));
}

async function servedCard(target: Target): Promise<SignedCard> {
  return (await target.fetch("/.well-known/agent-card.json")).json();
}

async function readKeys(target: Target): Promise<JSONWebKeySet> {
  return (await target.fetch("/.well-known/jwks.json")).json();
}
