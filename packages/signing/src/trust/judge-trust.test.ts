import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { thumbprintOf } from "../keys/key.ts";
import { SignedCard } from "../verify/signed-card.ts";
import { createCardMemory } from "./create-card-memory.ts";
import { judgeTrust, type TrustJudgement } from "./judge-trust.ts";
import type { TrustQuestion } from "./known-agent.ts";
import type { TrustPolicy } from "./trust-policy.ts";

const url = "https://agent.example/.well-known/agent-card.json";
const key = "https://agent.example";
const dayMs = 24 * 60 * 60 * 1_000;

const strong: JsonObject = {
  name: "A",
  supportedInterfaces: [{ url: "https://agent.example/rpc" }],
  securitySchemes: { m: { mtlsSecurityScheme: {} } },
  securityRequirements: [{ schemes: { m: {} } }],
};
const weak: JsonObject = { ...strong, securityRequirements: [] };

/** A client that meets agents one after the other, and remembers those it trusts. */
function createClient(policy: Omit<TrustPolicy, "memory"> = {}) {
  const memory = createCardMemory();
  let now = Date.parse("2030-01-01T00:00:00Z");
  const meet = async (
    signers: readonly string[],
    card: JsonObject = strong,
    question: Partial<TrustQuestion> = {},
  ): Promise<TrustJudgement> => {
    return await judgeTrust({
      card: new SignedCard(card),
      url,
      thumbprints: signers,
      policy: { ...policy, memory },
      now: () => now,
      ...question,
    });
  };
  return {
    memory,
    meet,
    /** What came of it in short: the fault, or which alarms there were. */
    tell: async (...given: Parameters<typeof meet>): Promise<string> => {
      const { fault, alarms } = await meet(...given);
      return fault ?? (alarms.map(({ kind }) => kind).join(" ") || "trusted");
    },
    wait: (ms: number) => {
      now += ms;
    },
    known: async () => (await memory.read(key))?.thumbprints,
  };
}

describe("trust on first use", () => {
  it("knows an agent by its first keys from then on", async () => {
    const { tell, known } = createClient();
    expect(await tell(["k1"])).toBe("first-use");
    expect(await tell(["k1"])).toBe("trusted");
    expect(await known()).toEqual(["k1"]);
  });

  it("refuses a card by another key, and keeps what it knew", async () => {
    const { meet, tell, known } = createClient();
    await meet(["k1"]);
    const { fault, message, alarms } = await meet(["evil"]);
    expect(fault).toBe("pin-changed");
    expect(message).toBe(
      "None of the keys by which https://agent.example is known has signed the card, but evil. Ask the operator of the agent, through another channel than the agent, whether it has new keys. If so, have the card memory forget the agent.",
    );
    expect(alarms).toEqual([
      {
        kind: "pin-changed",
        text: "None of the keys by which https://agent.example is known has signed the card, but evil.",
        paths: ["signatures"],
      },
    ]);
    expect(await known()).toEqual(["k1"]);
    expect(await tell(["evil"])).toBe("pin-changed");
    expect(await tell(["k1"])).toBe("trusted");
  });

  it("begins anew when the agent was forgotten", async () => {
    const { meet, tell, memory } = createClient();
    await meet(["k1"]);
    await memory.forget(key);
    expect(await tell(["k2"])).toBe("first-use");
    expect(await tell(["k1"])).toBe("pin-changed");
  });

  it("raises the alarm each time where a change is let pass, until the agent is forgotten", async () => {
    const { meet, tell, known } = createClient({ onPinChanged: "alarm" });
    await meet(["k1"]);
    expect(await tell(["k2"])).toBe("pin-changed");
    expect((await meet(["k2"])).fault).toBeUndefined();
    expect(await tell(["k2"])).toBe("pin-changed");
    expect(await known()).toEqual(["k1"]);
    expect(await tell(["k1"])).toBe("trusted");
  });

  it("tells agents of one origin apart, and knows one of them wherever its card is looked for", async () => {
    const { meet, tell } = createClient();
    const at = (path: string) => ({ url: `https://agent.example${path}` });
    await meet(["k1"], strong, at("/agents/a/.well-known/agent-card.json"));
    expect(await tell(["k2"], strong, at("/agents/b/.well-known/agent-card.json"))).toBe("first-use");
    expect(await tell(["k2"], strong, at("/agents/a/.well-known/agent.json"))).toBe("pin-changed");
    expect(await tell(["k2"], strong, at("/agents/a#x"))).toBe("pin-changed");
    expect(await tell(["k1"], strong, at("/agents/a/"))).toBe("trusted");
  });

  it("remembers nothing where it is not known whose card it is, and says so", async () => {
    const { tell } = createClient();
    expect(await tell(["k1"], strong, { url: undefined })).toBe("not-remembered");
    expect(await tell(["k2"], weak, { url: "file:///card.json" })).toBe("not-remembered");
  });

  it("writes down when the agent was first and last seen, to the day", async () => {
    const { meet, memory, wait } = createClient();
    await meet(["k1"]);
    const first = await memory.read(key);
    expect(first).toEqual({
      thumbprints: ["k1"],
      outline: expect.stringContaining("mtlsSecurityScheme"),
      digest: expect.stringMatching(/^[\w-]{43}$/),
      firstSeen: "2030-01-01T00:00:00.000Z",
      lastSeen: "2030-01-01T00:00:00.000Z",
    });
    wait(dayMs - 1);
    await meet(["k1"]);
    expect(await memory.read(key)).toEqual(first);
    wait(1);
    await meet(["k1"]);
    expect(await memory.read(key)).toEqual({ ...first, lastSeen: "2030-01-02T00:00:00.000Z" });
  });

  it("trusts nobody when it cannot remember", async () => {
    const memory = { ...createCardMemory(), read: () => Promise.reject(new Error("disk on fire")) };
    const judging = judgeTrust({
      card: new SignedCard({}),
      url,
      thumbprints: [],
      policy: { memory },
      now: Date.now,
    });
    await expect(judging).rejects.toThrow("disk on fire");
  });

  it("trusts nobody when what it remembers is damaged", async () => {
    const { meet, memory } = createClient();
    const seen = { firstSeen: "", lastSeen: "" };
    for (const outline of ["{", "[]", "null"]) {
      await memory.write(key, { thumbprints: ["k1"], outline, digest: "", ...seen });
      await expect(meet(["k1"])).rejects.toThrow(
        "what is remembered of https://agent.example is damaged: its card is no JSON object",
      );
    }
  });
});

describe("rotation of keys", () => {
  it("knows a new key at once when the policy names it and it signs beside a known one", async () => {
    const jwk = {
      kid: "k2",
      kty: "OKP",
      crv: "Ed25519",
      x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    };
    const k2 = await thumbprintOf(jwk);
    const { meet, tell, known, wait } = createClient({ keys: [{ kid: "broken", kty: "oct" }, jwk] });
    await meet(["k1"]);
    expect(await tell([k2])).toBe("pin-changed");
    expect(await tell(["k1", k2])).toBe("trusted");
    expect(await known()).toEqual(["k1", k2]);
    expect(await tell([k2])).toBe("signer-missing");
    wait(dayMs);
    expect(await tell([k2])).toBe("signer-missing");
    expect(await known()).toEqual([k2]);
    expect(await tell(["k1"])).toBe("pin-changed");
    await tell(["k1", k2]);
    expect(await known()).toEqual([k2]); // one that the policy does not name has to wait
  });

  it("takes a key back at once that the policy names, however long it was missing", async () => {
    const jwk = {
      kid: "k2",
      kty: "OKP",
      crv: "Ed25519",
      x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    };
    const k2 = await thumbprintOf(jwk);
    const { meet, tell, wait } = createClient({ keys: [jwk] });
    await meet(["k1", k2]);
    await meet(["k1"]);
    wait(dayMs);
    expect(await tell(["k1", k2])).toBe("trusted");
    expect(await tell([k2])).toBe("signer-missing");
  });

  it("knows a key of a key set when it has signed beside a known one for a day", async () => {
    const { meet, tell, known, wait } = createClient();
    await meet(["k1"]);
    expect(await tell(["k1", "k2"])).toBe("signer-new");
    expect((await meet(["k1", "k2"])).fault).toBeUndefined();
    expect(await known()).toEqual(["k1"]);
    expect((await meet(["k2"])).fault).toBe("pin-changed");
    wait(dayMs - 1);
    expect((await meet(["k1", "k2"])).fault).toBeUndefined();
    expect((await meet(["k2"])).fault).toBe("pin-changed");
    wait(1);
    expect(await tell(["k1", "k2"])).toBe("signer-new");
    expect(await known()).toEqual(["k1", "k2"]);
    expect(await tell(["k2"])).toBe("signer-missing");
    expect(await known()).toEqual(["k2", "k1"]);
    wait(dayMs);
    expect(await tell(["k2"])).toBe("signer-missing");
    expect(await known()).toEqual(["k2"]);
    expect(await tell(["k2"])).toBe("trusted");
  });

  it("knows a new key also when it was away while the old one went", async () => {
    const { meet, tell, wait } = createClient();
    await meet(["k1"]);
    await meet(["k1", "k2"]);
    wait(30 * dayMs);
    expect(await tell(["k2"])).toBe("signer-new signer-missing");
  });

  it("is not led to another key by a signature that somebody has added for a while", async () => {
    const { meet, tell, wait } = createClient();
    await meet(["k1"]);
    await meet(["k1", "evil"]);
    wait(dayMs / 2);
    await meet(["k1"]); // its operator is back
    wait(dayMs);
    expect(await tell(["evil"])).toBe("pin-changed");
    await meet(["k1", "evil"]);
    expect(await tell(["evil"])).toBe("pin-changed");
  });

  it("takes a new key at once where the policy says so", async () => {
    const { meet, tell } = createClient({ newKeyDelayMs: 0 });
    await meet(["k1"]);
    expect(await tell(["k2"])).toBe("pin-changed");
    expect(await tell(["k1", "k2"])).toBe("signer-new");
    expect(await tell(["k2"])).toBe("signer-missing");
    expect(await tell(["k1"])).toBe("pin-changed");
  });

  it("never takes a new key where the policy says so", async () => {
    const { meet, tell, wait } = createClient({ newKeyDelayMs: Number.POSITIVE_INFINITY });
    await meet(["k1"]);
    await meet(["k1", "k2"]);
    wait(10_000 * dayMs);
    expect(await tell(["k2"])).toBe("pin-changed");
  });

  it("never forgets a known key that the policy names", async () => {
    const jwk = {
      kid: "k2",
      kty: "OKP",
      crv: "Ed25519",
      x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    };
    const k2 = await thumbprintOf(jwk);
    const { meet, tell, known, wait } = createClient({ keys: [jwk] });
    await meet(["k1", k2]);
    for (let day = 0; day < 3; day++) {
      expect((await meet(["k1"])).fault).toBeUndefined();
      wait(dayMs);
    }
    expect(await tell(["k1"])).toBe("trusted"); // that it has not signed was told for a day
    expect(await known()).toEqual(["k1", k2]);
    expect(await tell([k2])).toBe("signer-missing");
  });

  it("forgets a key that signs no longer, after a day", async () => {
    const { meet, tell, wait } = createClient();
    await meet(["k1", "k2"]);
    await meet(["k2"]);
    wait(dayMs);
    await meet(["k2"]);
    expect(await tell(["k1"])).toBe("pin-changed");
  });
});

describe("a card that is weaker than the last one", () => {
  it("is refused, and the next one is compared with the last trusted one again", async () => {
    const { meet, tell } = createClient();
    await meet(["k1"]);
    const { fault, message, alarms } = await meet(["k1"], weak);
    expect(fault).toBe("downgrade");
    expect(message).toMatch(
      /^The card is weaker than the last one of this agent\. The agent no longer asks for credentials\. Ask the operator/,
    );
    expect(alarms).toEqual([
      {
        kind: "downgrade",
        text: "The agent no longer asks for credentials.",
        paths: ["securityRequirements"],
      },
    ]);
    expect(await tell(["k1"], weak)).toBe("downgrade");
    expect(await tell(["k1"], strong)).toBe("trusted");
  });

  it("is what the next one is compared with when the change was none for the worse", async () => {
    const { meet, tell } = createClient();
    await meet(["k1"], weak);
    expect(await tell(["k1"], strong)).toBe("trusted");
    expect(await tell(["k1"], weak)).toBe("downgrade");
  });

  it("raises the alarm each time where it is let pass, also when it gets weaker little by little", async () => {
    const { meet } = createClient({ onDowngrade: "alarm" });
    await meet(["k1"]);
    await meet(["k1"], weak);
    const { fault, alarms } = await meet(["k1"], { ...weak, securitySchemes: {} });
    expect(fault).toBeUndefined();
    expect(alarms.map(({ text }) => text)).toEqual([
      "The agent no longer asks for credentials.",
      'The security scheme "m" is gone, and missed.',
    ]);
  });

  it("is judged by its canonical form, however it is spelled", async () => {
    const { meet, tell } = createClient();
    await meet(["k1"]);
    const { supportedInterfaces: _, ...others } = strong;
    const spelled = { ...others, supported_interfaces: [{ url: "https://evil.example" }] };
    expect(await tell(["k1"], spelled)).toBe("downgrade");
  });

  it("has its first 50 findings told, and three of them in the message", async () => {
    const { meet } = createClient();
    await meet(["k1"]);
    const elsewhere = Array.from({ length: 60 }, (_, index) => ({ url: `https://${index}.example` }));
    const { message, alarms } = await meet(["k1"], { ...strong, supportedInterfaces: elsewhere });
    expect(alarms.map(({ text }) => text)).toHaveLength(51);
    expect(alarms.at(-1)?.text).toBe("There are 10 more such findings.");
    expect(message).toMatch(/"0\.example".*"1\.example".*"2\.example"\. There are 57 more\./);
  });
});

describe("the minimum of security", () => {
  it("is demanded from the first card on, of an agent that nobody knows, too", async () => {
    const { tell, known } = createClient({ minimumSecurity: { requirements: true } });
    expect(await tell(["k1"], weak)).toBe("security-too-weak");
    expect(await tell(["k1"], weak, { url: undefined })).toBe("security-too-weak");
    expect(await known()).toBeUndefined();
    expect(await tell(["k1"], strong)).toBe("first-use");
  });

  it("comes after the keys, and before the comparison; all of it is told", async () => {
    const { meet } = createClient({ minimumSecurity: { requirements: true } });
    await meet(["k1"]);
    const { fault, message, alarms } = await meet(["evil"], weak);
    expect(fault).toBe("pin-changed");
    expect(alarms.map(({ kind }) => kind)).toEqual(["pin-changed", "security-too-weak", "downgrade"]);
    expect(message).toContain(
      "The card declares less security than is demanded. No credentials are demanded.",
    );
    expect((await meet(["k1"], weak)).fault).toBe("security-too-weak");
  });
});

describe("an extended card", () => {
  const extended = { extended: true };

  it("must be signed by a key of the public one", async () => {
    const { meet, tell } = createClient();
    await meet(["k1"]);
    expect(await tell(["k1"], strong, extended)).toBe("trusted");
    expect(await tell(["evil"], strong, extended)).toBe("pin-changed");
  });

  it("is neither compared with the public one nor remembered in its place", async () => {
    const { meet, tell } = createClient();
    await meet(["k1"]);
    expect(await tell(["k1"], weak, extended)).toBe("trusted");
    expect(await tell(["k1"], weak)).toBe("downgrade");
  });

  it("introduces nobody", async () => {
    const { meet, tell, known } = createClient({ newKeyDelayMs: 0 });
    expect(await tell(["evil"], strong, extended)).toBe("first-use");
    expect(await known()).toBeUndefined();
    await meet(["k1"]);
    await meet(["k1", "evil"], strong, extended);
    expect(await tell(["evil"])).toBe("pin-changed");
  });

  it("must meet the minimum", async () => {
    const { tell } = createClient({ minimumSecurity: { requirements: true } });
    expect(await tell(["k1"], weak, extended)).toBe("security-too-weak");
  });
});
