import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { agentKey, agentUrl, createTrustClient, strongCard } from "../../test-support/trust-client.ts";
import { SignedCard } from "../signed-card.ts";
import { createCardMemory } from "./card-memory.ts";
import { judgeTrust } from "./judge-trust.ts";

const dayMs = 24 * 60 * 60 * 1_000;

const weak: JsonObject = { ...strongCard, securityRequirements: [] };

describe("trust on first use", () => {
  it("knows an agent by its first keys from then on", async () => {
    const { tell, known } = createTrustClient();
    expect(await tell(["k1"])).toBe("first-use");
    expect(await tell(["k1"])).toBe("trusted");
    expect(await known()).toEqual(["k1"]);
  });

  it("refuses a card by another agentKey, and keeps what it knew", async () => {
    const { meet, tell, known } = createTrustClient();
    await meet(["k1"]);
    const { reason, message, alarms } = await meet(["evil"]);
    expect(reason).toBe("pin-changed");
    expect(message).toBe(
      "None of the known keys of https://agent.example has signed the card. The keys that have signed it: evil. Ask the operator of the agent, through a separate channel, whether it has new keys. If so, have the card memory forget the agent.",
    );
    expect(alarms).toEqual([
      {
        kind: "pin-changed",
        text: "None of the known keys of https://agent.example has signed the card. The keys that have signed it: evil.",
        paths: ["signatures"],
      },
    ]);
    expect(await known()).toEqual(["k1"]);
    expect(await tell(["evil"])).toBe("pin-changed");
    expect(await tell(["k1"])).toBe("trusted");
  });

  it("begins anew when the agent was forgotten", async () => {
    const { meet, tell, memory } = createTrustClient();
    await meet(["k1"]);
    await memory.forget(agentKey);
    expect(await tell(["k2"])).toBe("first-use");
    expect(await tell(["k1"])).toBe("pin-changed");
  });

  it("tells agents of one origin apart, and knows one of them wherever its card is looked for", async () => {
    const { meet, tell } = createTrustClient();
    const at = (path: string) => ({ url: `https://agent.example${path}` });
    await meet(["k1"], strongCard, at("/agents/a/.well-known/agent-card.json"));
    expect(await tell(["k2"], strongCard, at("/agents/b/.well-known/agent-card.json"))).toBe("first-use");
    expect(await tell(["k2"], strongCard, at("/agents/a/.well-known/agent.json"))).toBe("pin-changed");
    expect(await tell(["k2"], strongCard, at("/agents/a#x"))).toBe("pin-changed");
    expect(await tell(["k1"], strongCard, at("/agents/a/"))).toBe("trusted");
  });

  it("remembers nothing where it is not known whose card it is, and says so", async () => {
    const { tell } = createTrustClient();
    expect(await tell(["k1"], strongCard, { url: undefined })).toBe("not-remembered");
    expect(await tell(["k2"], weak, { url: "file:///card.json" })).toBe("not-remembered");
  });

  it("writes down when the agent was first and last seen, to the day", async () => {
    const { meet, memory, wait } = createTrustClient();
    await meet(["k1"]);
    const first = await memory.read(agentKey);
    expect(first).toEqual({
      thumbprints: ["k1"],
      outline: expect.stringContaining("mtlsSecurityScheme"),
      digest: expect.stringMatching(/^[\w-]{43}$/),
      firstSeen: "2030-01-01T00:00:00.000Z",
      lastSeen: "2030-01-01T00:00:00.000Z",
    });
    wait(dayMs - 1);
    await meet(["k1"]);
    expect(await memory.read(agentKey)).toEqual(first);
    wait(1);
    await meet(["k1"]);
    expect(await memory.read(agentKey)).toEqual({ ...first, lastSeen: "2030-01-02T00:00:00.000Z" });
  });

  it("trusts nobody when it cannot remember", async () => {
    const memory = { ...createCardMemory(), read: () => Promise.reject(new Error("disk on fire")) };
    const judging = judgeTrust({
      card: new SignedCard({}),
      url: agentUrl,
      thumbprints: [],
      policy: { memory },
      now: Date.now,
    });
    await expect(judging).rejects.toThrow("disk on fire");
  });

  it("trusts nobody when what it remembers is damaged", async () => {
    const { meet, memory } = createTrustClient();
    const seen = { firstSeen: "", lastSeen: "" };
    for (const outline of ["{", "[]", "null"]) {
      await memory.write(agentKey, { thumbprints: ["k1"], outline, digest: "", ...seen });
      await expect(meet(["k1"])).rejects.toThrow(
        "what is remembered of https://agent.example is damaged: its card is not a JSON object",
      );
    }
  });
});

describe("a card that is weaker than the last one", () => {
  it("is refused, and the next one is compared with the last trusted one again", async () => {
    const { meet, tell } = createTrustClient();
    await meet(["k1"]);
    const { reason, message, alarms } = await meet(["k1"], weak);
    expect(reason).toBe("downgrade");
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
    expect(await tell(["k1"], strongCard)).toBe("trusted");
  });

  it("is what the next one is compared with when the change was none for the worse", async () => {
    const { meet, tell } = createTrustClient();
    await meet(["k1"], weak);
    expect(await tell(["k1"], strongCard)).toBe("trusted");
    expect(await tell(["k1"], weak)).toBe("downgrade");
  });

  it("raises the alarm each time where it is let pass, also when it gets weaker little by little", async () => {
    const { meet } = createTrustClient({ onDowngrade: "alarm" });
    await meet(["k1"]);
    await meet(["k1"], weak);
    const { reason, alarms } = await meet(["k1"], { ...weak, securitySchemes: {} });
    expect(reason).toBeUndefined();
    expect(alarms.map(({ text }) => text)).toEqual([
      "The agent no longer asks for credentials.",
      'The security scheme "m" is gone, and no other scheme makes up for it.',
    ]);
  });

  it("is judged by its canonical form, however it is spelled", async () => {
    const { meet, tell } = createTrustClient();
    await meet(["k1"]);
    const { supportedInterfaces: _, ...others } = strongCard;
    const spelled = { ...others, supported_interfaces: [{ url: "https://evil.example" }] };
    expect(await tell(["k1"], spelled)).toBe("downgrade");
  });

  it("has its first 50 findings told, and three of them in the message", async () => {
    const { meet } = createTrustClient();
    await meet(["k1"]);
    const elsewhere = Array.from({ length: 60 }, (_, index) => ({ url: `https://${index}.example` }));
    const { message, alarms } = await meet(["k1"], { ...strongCard, supportedInterfaces: elsewhere });
    expect(alarms.map(({ text }) => text)).toHaveLength(51);
    expect(alarms.at(-1)?.text).toBe("There are 10 more such findings.");
    expect(message).toMatch(/"0\.example".*"1\.example".*"2\.example"\. There are 57 more such findings\./);
  });
});

describe("the minimum of security", () => {
  it("is demanded from the first card on, of an agent that nobody knows, too", async () => {
    const { tell, known } = createTrustClient({ minimumSecurity: { requirements: true } });
    expect(await tell(["k1"], weak)).toBe("security-too-weak");
    expect(await tell(["k1"], weak, { url: undefined })).toBe("security-too-weak");
    expect(await known()).toBeUndefined();
    expect(await tell(["k1"], strongCard)).toBe("first-use");
  });

  it("comes after the keys, and before the comparison; all of it is told", async () => {
    const { meet } = createTrustClient({ minimumSecurity: { requirements: true } });
    await meet(["k1"]);
    const { reason, message, alarms } = await meet(["evil"], weak);
    expect(reason).toBe("pin-changed");
    expect(alarms.map(({ kind }) => kind)).toEqual(["pin-changed", "security-too-weak", "downgrade"]);
    expect(message).toContain(
      "The card declares less security than the policy demands. The card demands no credentials.",
    );
    expect((await meet(["k1"], weak)).reason).toBe("security-too-weak");
  });
});

describe("an extended card", () => {
  const extended = { extended: true };

  it("must be signed by a key of the public one", async () => {
    const { meet, tell } = createTrustClient();
    await meet(["k1"]);
    expect(await tell(["k1"], strongCard, extended)).toBe("trusted");
    expect(await tell(["evil"], strongCard, extended)).toBe("pin-changed");
  });

  it("is neither compared with the public one nor remembered in its place", async () => {
    const { meet, tell } = createTrustClient();
    await meet(["k1"]);
    expect(await tell(["k1"], weak, extended)).toBe("trusted");
    expect(await tell(["k1"], weak)).toBe("downgrade");
  });

  it("introduces nobody", async () => {
    const { meet, tell, known } = createTrustClient({ newKeyDelayMs: 0 });
    expect(await tell(["evil"], strongCard, extended)).toBe("first-use");
    expect(await known()).toBeUndefined();
    await meet(["k1"]);
    await meet(["k1", "evil"], strongCard, extended);
    expect(await tell(["evil"])).toBe("pin-changed");
  });

  it("must meet the minimum", async () => {
    const { tell } = createTrustClient({ minimumSecurity: { requirements: true } });
    expect(await tell(["k1"], weak, extended)).toBe("security-too-weak");
  });
});
