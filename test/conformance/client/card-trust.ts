import { CardInvalidError, CardRefusedError } from "@a2a-connect/client";
import { formatMessage } from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { type CardNotTrustedError, type TrustPolicy, trustCards } from "@a2a-connect/signing";
import type { Wire } from "@a2a-connect/testing";
import { canonicalizeAgentCard } from "@a2a-js/sdk";
import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { secure } from "../../support/cards.ts";
import { addSignature, createTestKey, payloadOf, type TestKey } from "../card-signature.ts";
import { clientScenarios } from "./client-scenario.ts";
import { connectOver } from "./every-operation.ts";
import { type PeerOptions, startPeer } from "./peer.ts";

const key = await createTestKey();
const other = await createTestKey();
const trusting: TrustPolicy = { keys: [key.publicJwk] };

/** What a client demands of a card before it believes a word of it. */
export const cardTrust = clientScenarios("The card that the client trusts", (verifies) => {
  verifies("M-3", "is what was signed", async (wire) => {
    expect(await refusalOf(wire, trusting, signedBy(key))).toBeUndefined();
    expect(await refusalOf(wire, trusting, {})).toBe("no-signature");
    for (const tamper of [
      (text: string) => text.replace("Peer", "Pear"),
      (text: string) => text.replace("localhost", "127.0.0.1"),
      (text: string) => text.replace('"skills":', '"iconUrl":"","skills":'),
    ]) {
      expect(await refusalOf(wire, trusting, { ...signedBy(key), tamper })).toBe("signature-mismatch");
    }
    const withoutName = (text: string) => text.replace('"name":"Peer",', "");
    expect(await refusalOf(wire, trusting, { ...signedBy(key), tamper: withoutName })).toBe("card-invalid");
  });

  verifies("M-4", "was signed by a key that counts now, whoever else has signed it", async (wire) => {
    const second = Math.floor(Date.now() / 1_000);
    for (const [policy, refusal] of [
      [{ keys: [{ ...key.publicJwk, exp: second - 60 }] }, "key-expired"],
      [{ keys: [{ ...key.publicJwk, exp: second + 60 }] }, undefined],
      [{ keys: [{ ...key.publicJwk, revoked: true }] }, "key-revoked"],
      [{ ...trusting, revoked: [key.kid] }, "key-revoked"],
    ] as const) {
      expect(await refusalOf(wire, policy, signedBy(key))).toBe(refusal);
    }
    expect(await refusalOf(wire, trusting, signedBy(other))).toBe("key-unknown");
    expect(await refusalOf(wire, trusting, signedBy(other, key))).toBeUndefined();
  });

  verifies("M-5", "has no signature that asks for something which nobody understands", async (wire) => {
    for (const [header, refusal] of [
      [{ crit: ["x-unknown"], "x-unknown": 1 }, "crit-not-understood"],
      [{ typ: "JWT" }, "typ-not-allowed"],
      [{ kid: "" }, "kid-missing"],
      [{ kid: "nobody", jku: "https://evil.example/jwks.json" }, "key-unknown"],
    ] as const) {
      const editCard: PeerOptions["editCard"] = (card) =>
        addSignature(card, key, { header: { ...header } as JsonObject });
      expect(await refusalOf(wire, trusting, { editCard })).toBe(refusal);
    }
    for (const alg of ["none", "HS256"]) {
      const editCard: PeerOptions["editCard"] = (card) => {
        const header = Buffer.from(JSON.stringify({ alg, kid: key.kid })).toString("base64url");
        card.signatures.push({
          $typeName: "lf.a2a.v1.AgentCardSignature",
          protected: header,
          signature: "AAAA",
        });
      };
      expect(await refusalOf(wire, trusting, { editCard })).toBe("algorithm-not-allowed");
    }
  });

  verifies("M-6", "may have members that nobody knows, when they were signed, too", async (wire) => {
    const withMember = (text: string) => text.replace('{"name"', '{"futureMember":{"b":[],"a":null},"name"');
    const signed: PeerOptions = {
      tamper: withMember,
      editCard: (card) => {
        const payload = payloadOf(JSON.parse(withMember(JSON.stringify(toJson(card)))));
        return addSignature(card, key, { payload });
      },
    };
    expect(await refusalOf(wire, trusting, signed)).toBeUndefined();
    expect(await refusalOf(wire, trusting, { ...signedBy(key), tamper: withMember })).toBe(
      "signature-mismatch",
    );
  });

  verifies(
    "M-7",
    "was signed as the specification says, unless another way is allowed by name",
    async (wire) => {
      // What a deployed SDK signs: nothing that is empty.
      const signed: PeerOptions = {
        editCard: (card) => {
          card.skills = [];
          secure(card); // without security it would be doubted: such signers lose some of it
          const payload = new TextEncoder().encode(canonicalizeAgentCard(toJson(card) as never)); // it reads ProtoJSON
          return addSignature(card, key, { payload });
        },
      };
      expect(await refusalOf(wire, trusting, signed)).toBe("signature-mismatch");
      expect(await refusalOf(wire, { ...trusting, profiles: ["js-1"] }, signed)).toBeUndefined();
    },
  );
});

/** Why the client refuses to use the peer, or undefined. */
async function refusalOf(wire: Wire, policy: TrustPolicy, options: PeerOptions): Promise<string | undefined> {
  await using peer = await startPeer(options);
  try {
    await using agent = await connectOver(wire, peer, { verifyCard: trustCards(policy) });
    await agent.sendMessage("hello");
    return undefined;
  } catch (error) {
    expect(peer.requests).toEqual([]);
    if (error instanceof CardInvalidError) {
      return "card-invalid"; // what is no card is not shown to anybody
    }
    expect(error).toBeInstanceOf(CardRefusedError);
    const { cause } = error as CardRefusedError;
    return (cause as CardNotTrustedError).reason;
  }
}

function toJson(card: AgentCard): JsonObject {
  return formatMessage(AgentCardSchema, card) as JsonObject; // a card is an object in JSON
}

function signedBy(...keys: readonly TestKey[]): PeerOptions {
  return {
    editCard: async (card) => {
      for (const each of keys) {
        await addSignature(card, each);
      }
    },
  };
}
