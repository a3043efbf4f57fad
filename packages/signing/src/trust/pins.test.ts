import { describe, expect, it } from "vitest";
import { agentKey, createTrustClient } from "../../test-support/trust-client.ts";
import { thumbprintOf } from "../keys/key.ts";
import type { VerificationKey } from "../keys/key-type.ts";
import type { TrustPolicy } from "./trust-policy.ts";

const dayMs = 24 * 60 * 60 * 1_000;

/** A key that some policies name, and its thumbprint. */
const jwk: VerificationKey = {
  kid: "p",
  kty: "OKP",
  crv: "Ed25519",
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
};
const p = await thumbprintOf(jwk);

/** Who signs the next card, what is told of that, and by which keys the agent is known then; or how long it takes to the next. */
type Step = readonly [signers: string, told: string, known?: string] | number;

const cases: readonly (readonly [what: string, policy: Omit<TrustPolicy, "memory">, ...steps: Step[]])[] = [
  [
    "knows a key of a key set when it has signed beside a known one for a day",
    {},
    ["k1", "first-use"],
    ["k1 k2", "signer-new", "k1"],
    ["k1 k2", "signer-new", "k1"],
    ["k2", "pin-changed"],
    dayMs - 1,
    ["k1 k2", "signer-new", "k1"],
    ["k2", "pin-changed"],
    1,
    ["k1 k2", "signer-new", "k1 k2"],
    ["k1 k2", "trusted"],
    ["k2", "signer-missing", "k2 k1"],
    dayMs,
    ["k2", "signer-missing", "k2"],
    ["k2", "trusted"],
  ],
  [
    "knows a new key also when it was away while the old one went",
    {},
    ["k1", "first-use"],
    ["k1 k2", "signer-new"],
    30 * dayMs,
    ["k2", "signer-new signer-missing"],
  ],
  [
    "is not led to another key by a signature that another party has added for a while",
    {},
    ["k1", "first-use"],
    ["k1 evil", "signer-new"],
    dayMs / 2,
    ["k1", "trusted"], // its operator is back
    dayMs,
    ["evil", "pin-changed"],
    ["k1 evil", "signer-new"],
    ["evil", "pin-changed"],
  ],
  [
    "tells of a known key that has not signed, and knows it for a day: who takes a signature out unpins none",
    {},
    ["k1 k2", "first-use"],
    ["k1", "signer-missing", "k1 k2"],
    dayMs - 1,
    ["k2", "signer-missing"], // now the other one is missing
    ["k1 k2", "trusted"],
  ],
  [
    "forgets a key when it was missed for a day, and it does not come back by itself",
    {},
    ["k1 k2", "first-use"],
    ["k1", "signer-missing"],
    dayMs,
    ["k1", "signer-missing", "k1"],
    ["k2", "pin-changed"],
    ["k1", "trusted"],
    ["k1 k2", "signer-new"],
  ],
  ...[["k2", "signer-missing", "k2 k1"] as const, ["k1 k2", "trusted", "k1 k2"] as const].map(
    (back): readonly [string, Omit<TrustPolicy, "memory">, ...Step[]] => [
      `knows a key again when it signs, however long ago it was missed once: ${back[0]}`,
      {},
      ["k1 k2", "first-use"],
      ["k1", "signer-missing"], // its signature was taken out on the way
      30 * dayMs,
      back,
    ],
  ),
  [
    "misses a key from the first time on that it was missed, and anew when it has signed in between",
    {},
    ["k1 k2", "first-use"],
    30 * dayMs,
    ["k1", "signer-missing"],
    ["k2", "signer-missing"],
    ["k1 k2", "trusted"],
    dayMs,
    ["k1", "signer-missing"],
    dayMs - 1,
    ["k1 k2", "trusted"],
  ],
  [
    "takes a new key and forgets an old one at once where the policy says so",
    { newKeyDelayMs: 0 },
    ["k1", "first-use"],
    ["k2", "pin-changed"],
    ["k1 k2", "signer-new"],
    ["k2", "signer-missing", "k2"],
    ["k1", "pin-changed"],
  ],
  [
    "never takes a new key where the policy says so",
    { newKeyDelayMs: Number.POSITIVE_INFINITY },
    ["k1", "first-use"],
    ["k1 k2", "signer-new"],
    10_000 * dayMs,
    ["k2", "pin-changed"],
  ],
  [
    "knows a new key at once, and without an alarm, when the policy names it and it signs beside a known one",
    { keys: [{ kid: "broken", kty: "oct" }, jwk] },
    ["k1", "first-use"],
    [p, "pin-changed"],
    [`k1 ${p}`, "trusted", `k1 ${p}`],
    [p, "signer-missing"],
    dayMs,
    [p, "signer-missing", p],
    ["k1", "pin-changed"],
    [`k1 ${p}`, "signer-new", p], // one that the policy does not name has to wait
  ],
  [
    "takes a key back at once that the policy names, however long it was missing",
    { keys: [jwk] },
    [`k1 ${p}`, "first-use"],
    ["k1", "signer-missing"],
    dayMs,
    [`k1 ${p}`, "trusted"],
    [p, "signer-missing"],
  ],
  [
    "never forgets a known key that the policy names",
    { keys: [jwk] },
    [`k1 ${p}`, "first-use"],
    ["k1", "signer-missing"],
    dayMs,
    ["k1", "trusted"], // that it has not signed was told for a day
    dayMs,
    ["k1", "trusted"],
    dayMs,
    ["k1", "trusted", `k1 ${p}`],
    [p, "signer-missing"],
  ],
];

describe("rotation of keys", () => {
  for (const [what, policy, ...steps] of cases) {
    it(what, async () => {
      const { tell, known, wait } = createTrustClient(policy);
      for (const [index, step] of steps.entries()) {
        if (typeof step === "number") {
          wait(step);
          continue;
        }
        const [signers, told, keys] = step;
        expect(await tell(signers.split(" ")), `step ${index}: ${signers}`).toBe(told);
        if (keys !== undefined) expect(await known(), `step ${index}: ${signers}`).toEqual(keys.split(" "));
      }
    });
  }

  it("is told in sentences, and refuses no card", async () => {
    const { meet, wait } = createTrustClient();
    const alarmsOf = async (...signers: readonly string[]) => {
      const { reason, alarms } = await meet(signers);
      expect(reason).toBeUndefined();
      for (const { paths } of alarms) expect(paths).toEqual(["signatures"]);
      return alarms.map(({ kind, text }) => [kind, text]);
    };
    await meet(["k1"]);
    expect(await alarmsOf("k1", "k2")).toEqual([
      [
        "signer-new",
        `A new key of ${agentKey} has signed beside a known key. If that lasts, it becomes known, too: k2.`,
      ],
    ]);
    wait(dayMs);
    expect(await alarmsOf("k1", "k2")).toEqual([
      ["signer-new", `A new key of ${agentKey} that signs beside a known key is known from now on: k2.`],
    ]);
    expect(await alarmsOf("k2")).toEqual([
      ["signer-missing", `A known key of ${agentKey} has not signed. If that lasts, it is forgotten: k1.`],
    ]);
    wait(dayMs);
    expect(await alarmsOf("k2")).toEqual([
      ["signer-missing", `A known key of ${agentKey} has not signed for a while, and is forgotten: k1.`],
    ]);
  });
});
