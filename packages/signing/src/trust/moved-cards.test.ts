import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { SignedCard } from "../signed-card.ts";
import { createCardMemory } from "./card-memory.ts";
import { judgeTrust, type TrustJudgement } from "./judge-trust.ts";
import type { TrustQuestion } from "./known-agent.ts";

const card: JsonObject = {
  name: "Bank",
  version: "2.0",
  supportedInterfaces: [{ url: "https://agent.example/bank", protocolBinding: "JSONRPC" }],
  securitySchemes: { m: { mtlsSecurityScheme: {} } },
  securityRequirements: [{ schemes: { m: {} } }],
};
const elsewhere = (url: string): JsonObject => ({
  supportedInterfaces: [{ url, protocolBinding: "JSONRPC" }],
});

function createClient(policy: Omit<TrustQuestion["policy"], "memory"> = {}) {
  const memory = createCardMemory();
  return (members: JsonObject = {}, question: Partial<TrustQuestion> = {}): Promise<TrustJudgement> =>
    judgeTrust({
      card: new SignedCard({ ...card, ...members }),
      url: "https://agent.example",
      thumbprints: ["k1"],
      policy: { ...policy, memory },
      now: () => Date.parse("2030-01-01T00:00:00Z"),
      ...question,
    });
}

describe("a card of known keys", () => {
  it("raises an alarm once when it leads elsewhere on its host, has another name or an older version", async () => {
    const meet = createClient();
    await meet();
    const other = { ...elsewhere("https://agent.example/mallory"), name: "Mallory", version: "1.0" };
    const { reason, alarms } = await meet(other);
    expect(reason).toBeUndefined();
    expect(alarms).toEqual([
      {
        kind: "moved",
        text: 'An interface is in a place where none was before, at "https://agent.example/mallory".',
        paths: ["supportedInterfaces[0].url"],
      },
      { kind: "moved", text: 'The card is called "Mallory", no longer "Bank".', paths: ["name"] },
      { kind: "moved", text: 'The card has version "1.0", no longer "2.0".', paths: ["version"] },
    ]);
    expect((await meet(other)).alarms).toEqual([]);
  });

  it("is refused as the extended one when that leads to another host, or does without TLS", async () => {
    const meet = createClient();
    await meet();
    for (const url of ["https://evil.example/bank", "http://agent.example/bank"]) {
      const { reason, message, alarms } = await meet(elsewhere(url), { extended: true });
      expect(reason).toBe("downgrade");
      expect(message).toMatch(/^The card is weaker than the last one of this agent\. An interface is /);
      expect(alarms.map(({ kind }) => kind)).toContain("downgrade");
    }
  });

  it("raises the alarm of an extended one that leads elsewhere, where the policy lets it pass", async () => {
    const meet = createClient({ onDowngrade: "alarm" });
    await meet();
    const { reason, alarms } = await meet(elsewhere("https://evil.example/bank"), { extended: true });
    expect(reason).toBeUndefined();
    expect(alarms.map(({ kind }) => kind)).toEqual(["downgrade"]);
  });

  it("may demand something else as the extended one", async () => {
    const meet = createClient();
    await meet();
    const { reason, alarms } = await meet({ securityRequirements: [] }, { extended: true });
    expect({ reason, alarms }).toEqual({ reason: undefined, alarms: [] });
  });
});
