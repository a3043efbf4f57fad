// Signed cards between us and peers in other languages. The rules of the signatures themselves are in card-signatures.test.ts.

import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { generateSigningKey, type VerificationKey } from "@a2a-connect/signing";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { type Agent, type Caller, CallRefused } from "./peers/caller.ts";
import { languages, whereInstalled } from "./peers/languages.ts";
import { ourCaller } from "./peers/our-caller.ts";
import { startPeer } from "./peers/peer-process.ts";

const { privateJwk, publicJwk } = await generateSigningKey({ kid: "one" });
const { publicJwk: otherKey } = await generateSigningKey({ kid: "one" });

async function cardAt(caller: Caller, agent: Agent, key?: VerificationKey): Promise<JsonObject> {
  const order = { binding: "JSONRPC", method: "GetAgentCard", request: {} } as const;
  for await (const card of caller.call(agent, { ...order, ...(key === undefined ? {} : { key }) }))
    return card;
  throw new Error("there was no card");
}

for (const language of languages) {
  const { name, programs, signsCards } = language;
  describe(name, whereInstalled(language), () => {
    it("keeps the signature of our card", async () => {
      await using served = await serveSigned();
      await using peer = await startPeer(programs.sdk, "{}");
      expect(await cardAt(peer, served.agent)).toMatchObject({
        name: "Signed",
        signatures: [{ protected: expect.any(String), signature: expect.any(String) }],
      });
    });

    if (!signsCards) return;

    it("verifies our card with our key, and with no other", async () => {
      await using served = await serveSigned();
      await using peer = await startPeer(programs.sdk, "{}");
      expect(await cardAt(peer, served.agent, publicJwk)).toMatchObject({ name: "Signed" });
      await expect(cardAt(peer, served.agent, otherKey)).rejects.toThrow(CallRefused);
    });

    it("signs a card that our client verifies with its key, and with no other", async () => {
      await using peer = await startPeer(programs.sdk, JSON.stringify({ signingKey: privateJwk }));
      expect(await cardAt(ourCaller, peer.agent, publicJwk)).toMatchObject({ name: expect.any(String) });
      await expect(cardAt(ourCaller, peer.agent, otherKey)).rejects.toThrow(/signature/);
    });
  });
}

async function serveSigned(): Promise<AsyncDisposable & { readonly agent: Agent }> {
  const skill = { id: "s", name: "S", description: "Does.", tags: ["t"] };
  const card = { name: "Signed", description: "Is signed.", version: "1.0.0", skills: [skill] };
  const served = await serve(
    { card, execute: () => [] },
    { store: createMemoryTaskStore(), signing: { keys: [{ key: privateJwk }] } },
  );
  return {
    agent: { url: served.url, authority: new URL(served.url).host },
    [Symbol.asyncDispose]: () => served.close(),
  };
}
