import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { type KeyServer, sending, startKeyServer } from "../../test-support/key-server.ts";
import { makeKey, plainCard, signText } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import { thumbprintOf } from "../keys/key.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";
import { createCardVerifier, verifyCard } from "./verify-card.ts";

const key = await makeKey("k");
const other = await makeKey("k");
const thumbprint = await thumbprintOf(key.public);
const payload = canonicalCard(JSON.stringify(plainCard));

const serving = (...keys: readonly object[]) => startKeyServer(sending({ keys }));

async function signedCard(jku: JsonValue, signer = key): Promise<string> {
  const signatures: JsonObject[] = [{ ...(await signText(payload, signer, { jku })) }];
  return JSON.stringify({ ...plainCard, signatures });
}

const hostOf = ({ origin }: KeyServer) => new URL(origin).host;

describe("a key of a key set", () => {
  it("counts when the set is of the card's own origin", async () => {
    await using server = await serving(key.public);
    const url = `${server.origin}/.well-known/agent-card.json`;
    const result = await verifyCard(await signedCard(`${server.origin}/keys`), {
      trustPolicy: { jku: {} },
      url,
    });
    expect(result).toMatchObject({
      verified: true,
      signatures: [{ thumbprint, keySource: `${server.origin}/keys` }],
    });
    expect(result.message).toContain(`(ES256, of ${server.origin}/keys)`);
  });

  it("counts when the policy names the host, wherever the card came from", async () => {
    await using server = await serving(key.public);
    const trustPolicy: TrustPolicy = { jku: { hosts: [hostOf(server)] } };
    expect(await verifyCard(await signedCard(`${server.origin}/keys`), { trustPolicy })).toMatchObject({
      verified: true,
    });
  });

  for (const [what, policy, url] of [
    ["a policy without key sets", {}, "own"],
    ["a card from another origin", { jku: {} }, "https://agents.example.org/card"],
    ["a card from nowhere", { jku: {} }, undefined],
    ["a policy with other hosts", { jku: { hosts: ["keys.example.org"] } }, "own"],
  ] satisfies readonly (readonly [string, TrustPolicy, string | undefined])[]) {
    it(`is not even asked for by ${what}`, async () => {
      await using server = await serving(key.public);
      const from = url === "own" ? server.origin : url;
      const context = from === undefined ? {} : { url: from };
      const result = await verifyCard(await signedCard(`${server.origin}/keys`), {
        trustPolicy: policy,
        ...context,
      });
      expect(result.reason).toBe(what === "a policy without key sets" ? "key-unknown" : "jku-not-allowed");
      expect(server.requests).toHaveLength(0);
    });
  }

  it("is not asked for when a trusted key has signed", async () => {
    await using server = await serving(key.public);
    const trustPolicy: TrustPolicy = { keys: [key.public], jku: { hosts: [hostOf(server)] } };
    const result = await verifyCard(await signedCard(`${server.origin}/keys`), { trustPolicy });
    expect(result).toMatchObject({ verified: true, signatures: [{ keySource: "trusted" }] });
    expect(server.requests).toHaveLength(0);
  });

  it("is asked for when a trusted key with its id has not signed", async () => {
    await using server = await serving(key.public);
    const trustPolicy: TrustPolicy = { keys: [other.public], jku: { hosts: [hostOf(server)] } };
    expect(await verifyCard(await signedCard(`${server.origin}/keys`), { trustPolicy })).toMatchObject({
      verified: true,
    });
  });

  it("is tried with all keys of the set that have its id", async () => {
    await using server = await serving(other.public, key.public);
    const trustPolicy: TrustPolicy = { jku: { hosts: [hostOf(server)] } };
    expect(await verifyCard(await signedCard(`${server.origin}/keys`), { trustPolicy })).toMatchObject({
      verified: true,
    });
  });

  it("that fails does not hide what a trusted key was lacking", async () => {
    await using server = await startKeyServer(sending("no", {}, 404));
    const trustPolicy: TrustPolicy = { keys: [{ ...key.public, exp: 0 }], jku: { hosts: [hostOf(server)] } };
    const result = await verifyCard(await signedCard(`${server.origin}/keys`), { trustPolicy });
    expect(result.reason).toBe("key-expired");
  });

  for (const [what, answer, reason, words] of [
    ["is not there", sending("no", {}, 404), "jwks-unavailable", "HTTP status 404"],
    ["redirects", sending("", { location: "/elsewhere" }, 302), "jwks-unavailable", "redirects"],
    ["is a web page", sending("<html>"), "jwks-unavailable", "web page"],
    ["lacks the key", sending({ keys: [] }), "key-unknown", "has no public key with this id"],
    [
      "has the private key",
      sending({ keys: [{ ...key.private, kid: "k" }] }),
      "key-unknown",
      "has no public key with this id",
    ],
    ["says it is revoked", sending({ keys: [{ ...key.public, revoked: true }] }), "key-revoked", "revoked"],
    ["says it has expired", sending({ keys: [{ ...key.public, exp: 1 }] }), "key-expired", "1970"],
    ["says so in words", sending({ keys: [{ ...key.public, exp: "never" }] }), "key-expired", "not a number"],
    ["says it is for later", sending({ keys: [{ ...key.public, nbf: 1e10 }] }), "key-not-yet-valid", "2286"],
    [
      "says it is for encryption",
      sending({ keys: [{ ...key.public, use: "enc" }] }),
      "key-mismatch",
      "signatures",
    ],
    ["has another key", sending({ keys: [other.public] }), "signature-mismatch", "has not signed"],
  ] as const) {
    it(`does not count when the set ${what}`, async () => {
      await using server = await startKeyServer(answer);
      const trustPolicy: TrustPolicy = { jku: { hosts: [hostOf(server)] } };
      const result = await verifyCard(await signedCard(`${server.origin}/keys`), { trustPolicy });
      expect(result).toMatchObject({ verified: false, reason });
      expect(result.message).toContain(words);
    });
  }

  for (const [what, known] of [
    ["revoked by its thumbprint", { revoked: [thumbprint] }],
    ["revoked by its id", { revoked: ["k"] }],
    ["known as revoked under another id", { keys: [{ ...key.public, kid: "was", revoked: true }] }],
    ["known as expired under another id", { keys: [{ ...key.public, kid: "was", exp: 1 }] }],
    ["known as revoked", { keys: [{ ...key.public, revoked: true }] }],
  ] satisfies readonly (readonly [string, TrustPolicy])[]) {
    it(`does not count when it is ${what}, whatever the set says`, async () => {
      await using server = await serving(key.public);
      const trustPolicy: TrustPolicy = { ...known, jku: { hosts: [hostOf(server)] } };
      const result = await verifyCard(await signedCard(`${server.origin}/keys`), { trustPolicy });
      expect(result.reason).toMatch(/^key-(?:revoked|expired)$/);
    });
  }
});

describe("key sets of one policy", () => {
  it("are kept from one call to the next", async () => {
    await using server = await serving(key.public);
    const card = await signedCard(`${server.origin}/keys`);
    const trustPolicy: TrustPolicy = { jku: { hosts: [hostOf(server)] } };
    await verifyCard(card, { trustPolicy });
    await verifyCard(card, { trustPolicy });
    await createCardVerifier(trustPolicy).verify(card);
    expect(server.requests).toHaveLength(1);
    await verifyCard(card, { trustPolicy: { ...trustPolicy } });
    expect(server.requests).toHaveLength(2);
  });

  it("are kept by the clock that is given", async () => {
    await using server = await serving(key.public);
    const card = await signedCard(`${server.origin}/keys`);
    const verifier = createCardVerifier({ jku: { hosts: [hostOf(server)] } });
    await verifier.verify(card, { now: () => 0 });
    await verifier.verify(card, { now: () => 599_999 });
    expect(server.requests).toHaveLength(1);
    await verifier.verify(card, { now: () => 600_000 });
    expect(server.requests).toHaveLength(2);
  });

  it("are asked by the policy's fetch, five of them for one card", async () => {
    const asked: string[] = [];
    const fetch = async (url: URL) => {
      asked.push(url.href);
      return Response.json({ keys: [] });
    };
    const entries = await Promise.all(
      [0, 1, 2, 3, 4, 5, 0].map((n) => signText(payload, key, { jku: `https://keys.example.org/${n}` })),
    );
    const card = JSON.stringify({ ...plainCard, signatures: entries });
    const trustPolicy: TrustPolicy = {
      jku: { hosts: ["keys.example.org"], fetch: fetch as typeof globalThis.fetch }, // it is only called with URLs
    };
    const result = await verifyCard(card, { trustPolicy });
    expect(asked).toEqual([0, 1, 2, 3, 4].map((n) => `https://keys.example.org/${n}`));
    expect(result.signatures.map(({ fault }) => fault)).toEqual([
      ...Array.from({ length: 5 }, () => "key-unknown"),
      "jwks-unavailable",
      "key-unknown",
    ]);
  });

  it("are not waited for any longer when the caller has had enough", async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    await using server = await startKeyServer(() => onAsked());
    const stop = new AbortController();
    const trustPolicy: TrustPolicy = { jku: { hosts: [hostOf(server)] } };
    const verifying = verifyCard(await signedCard(`${server.origin}/keys`), {
      trustPolicy,
      signal: stop.signal,
    });
    await asked;
    stop.abort(new Error("enough"));
    await expect(verifying).rejects.toThrow("enough");
  });
});

describe("who counts as a signer", () => {
  it("is not whoever calls his key so, in the key set of the card's own origin", async () => {
    await using server = await serving(key.public);
    const card = await signedCard(`${server.origin}/keys`);
    const url = server.origin;
    const byId = await verifyCard(card, { trustPolicy: { jku: {}, signers: ["k"] }, url });
    expect(byId).toMatchObject({ verified: false, reason: "too-few-signers" });
    const byThumbprint = await verifyCard(card, { trustPolicy: { jku: {}, signers: [thumbprint] }, url });
    expect(byThumbprint).toMatchObject({ verified: true });
    const byHost = await verifyCard(card, {
      trustPolicy: { jku: { hosts: [hostOf(server)] }, signers: ["k"] },
      url,
    });
    expect(byHost).toMatchObject({ verified: true });
  });
});
