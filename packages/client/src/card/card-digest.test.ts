import { formatMessage } from "@a2a-connect/core";
import { AgentCardSchema } from "@a2a-connect/proto";
import { describe, expect, it } from "vitest";
import { agentCard, cardJson } from "../../test-support/cards.ts";
import { cardDigest } from "./card-digest.ts";
import { readCard } from "./read-card.ts";

const two = {
  a: { scheme: { case: "mtlsSecurityScheme", value: {} } },
  b: { scheme: { case: "mtlsSecurityScheme", value: {} } },
} as const;

describe("the digest of a card", () => {
  it("is SHA-256 over its JSON with sorted members", async () => {
    // Written down by hand, members in order of their names at every level.
    const text = `{"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain","application/json"],"description":"Files what it is given.","name":"Clerk","skills":[{"description":"Files a letter.","id":"file","name":"File","tags":["letters"]}],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://clerk.example/rpc"}],"version":"1.2.3"}`;
    expect(JSON.parse(text)).toEqual(formatMessage(AgentCardSchema, agentCard()));
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    expect(await cardDigest(agentCard())).toBe(Buffer.from(digest).toString("hex"));
  });

  it("is the same however the card was written, and whoever signed it", async () => {
    const backwards = JSON.stringify(Object.fromEntries(Object.entries(cardJson).reverse()), undefined, 2);
    const signed = agentCard({ signatures: [{ protected: "x", signature: "y" }] });
    const digest = await cardDigest(agentCard());
    expect(await cardDigest(readCard(backwards).card)).toBe(digest);
    expect(await cardDigest(signed)).toBe(digest);
    expect(signed.signatures).toHaveLength(1);
    const swapped = { b: two.b, a: two.a };
    expect(await cardDigest(agentCard({ securitySchemes: two }))).toBe(
      await cardDigest(agentCard({ securitySchemes: swapped })),
    );
  });

  it("is another one when anything else differs", async () => {
    const others = [{ version: "1.2.4" }, { skills: [] }, { capabilities: {} }, { securitySchemes: two }];
    const digests = await Promise.all([{}, ...others].map((each) => cardDigest(agentCard(each))));
    expect(new Set(digests).size).toBe(digests.length);
  });
});
