import { describe, expect, it } from "vitest";
import { makeKey, plainCard, signText, type TestKey } from "../../test-support/signed-card.ts";
import { canonicalCard } from "../canonical/canonical-card.ts";
import { thumbprintOf } from "../keys/key.ts";
import type { VerificationKey } from "../keys/key-type.ts";
import type { TrustPolicy } from "../trust/trust-policy.ts";
import type { CardFault } from "./faults.ts";
import { verifyCard } from "./verify-card.ts";

const a = await makeKey("a");
const x = await makeKey("x");
const otherX = await makeKey("x");
const b = await makeKey("b");
const payload = canonicalCard(JSON.stringify(plainCard));

async function verify(policy: TrustPolicy, ...signers: readonly TestKey[]) {
  const signatures = await Promise.all(signers.map((signer) => signText(payload, signer)));
  return await verifyCard(JSON.stringify({ ...plainCard, signatures }), { trustPolicy: policy });
}

describe("a key that stands in the policy under two ids (M-4)", () => {
  const alias: VerificationKey = { ...a.public, kid: "alias" };
  const asAlias: TestKey = { ...a, public: alias };
  const past = 1_000_000_000;
  const future = 100_000_000_000 - 1;
  for (const [what, policy, reason] of [
    ["one of the ids is revoked", { keys: [a.public, alias], revoked: ["a"] }, "key-revoked"],
    ["it is marked as revoked under one", { keys: [{ ...a.public, revoked: true }, alias] }, "key-revoked"],
    ["it has expired under one", { keys: [{ ...a.public, exp: past }, alias] }, "key-expired"],
    ["it does not count yet under one", { keys: [{ ...a.public, nbf: future }, alias] }, "key-not-yet-valid"],
  ] satisfies readonly (readonly [string, TrustPolicy, CardFault])[]) {
    it(`does not count under the other when ${what}`, async () => {
      expect(await verify(policy, asAlias)).toMatchObject({ verified: false, reason });
    });
  }

  it("counts under both when nothing is wrong with it", async () => {
    expect(await verify({ keys: [a.public, alias], revoked: ["b"] }, asAlias)).toMatchObject({
      verified: true,
    });
  });
});

describe("keys of those who are named", async () => {
  const keys = [x.public, otherX.public, b.public];
  const thumbprintOfX = await thumbprintOf(x.public);

  it("count once for each name, so two keys of one id are not two signers", async () => {
    const policy: TrustPolicy = { keys, signers: ["x", "b"], minSigners: 2 };
    const result = await verify(policy, x, otherX);
    expect(result).toMatchObject({ verified: false, reason: "too-few-signers" });
    expect(result.message).toContain("only 1");
    expect(await verify(policy, x, b)).toMatchObject({ verified: true });
    expect(await verify(policy, x, otherX, b)).toMatchObject({ verified: true });
  });

  it("count for one name each, so one key is not two signers", async () => {
    const policy: TrustPolicy = { keys, signers: ["x", thumbprintOfX], minSigners: 2 };
    expect(await verify(policy, x)).toMatchObject({ verified: false, reason: "too-few-signers" });
    expect(await verify(policy, otherX, x)).toMatchObject({ verified: true }); // the other one is "x"
  });

  it("cannot be demanded twice by naming one twice", async () => {
    const policy: TrustPolicy = { keys, signers: ["b", "b"], minSigners: 2 };
    await expect(verify(policy, b)).rejects.toThrow(/signers: names 1/);
  });
});
