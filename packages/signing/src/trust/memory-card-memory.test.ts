import { describe, expect, it } from "vitest";
import type { RememberedCard } from "./card-memory.ts";
import { createCardMemory } from "./memory-card-memory.ts";
import { cardMemoryKey } from "./memory-key.ts";

const card = (canonical = "{}"): RememberedCard => ({
  thumbprints: ["k"],
  canonical,
  firstSeen: "2030-01-01T00:00:00.000Z",
  lastSeen: "2030-01-01T00:00:00.000Z",
});

describe("createCardMemory", () => {
  it("gives what was written last, until it is forgotten", async () => {
    const memory = createCardMemory();
    expect(await memory.read("a")).toBeUndefined();
    await memory.write("a", card("1"));
    await memory.write("a", card("2"));
    expect(await memory.read("a")).toEqual(card("2"));
    await memory.forget("a");
    await memory.forget("a");
    expect(await memory.read("a")).toBeUndefined();
  });

  it("forgets whoever was not met for the longest time", async () => {
    const memory = createCardMemory({ maxCards: 2 });
    await memory.write("a", card());
    await memory.write("b", card());
    await memory.read("a");
    await memory.write("c", card());
    expect([await memory.read("a"), await memory.read("b"), await memory.read("c")]).toEqual([
      card(),
      undefined,
      card(),
    ]);
  });

  it("forgets by the size of the cards, too, but never the last one", async () => {
    const memory = createCardMemory({ maxLength: 10 });
    await memory.write("a", card("aaaa"));
    await memory.write("b", card("bbbb"));
    await memory.write("b", card("bbbbbb"));
    expect(await memory.read("a")).toEqual(card("aaaa"));
    await memory.write("c", card("cccc"));
    expect([await memory.read("a"), await memory.read("b")]).toEqual([card("aaaa"), undefined]);
    await memory.write("d", card("d".repeat(11)));
    expect([await memory.read("a"), await memory.read("d")]).toEqual([undefined, card("d".repeat(11))]);
  });

  it("wants limits that are some", () => {
    const message = "the limits of a card memory are numbers above 0";
    expect(() => createCardMemory({ maxCards: 0 })).toThrow(new TypeError(message));
    expect(() => createCardMemory({ maxLength: Number.NaN })).toThrow(new TypeError(message));
  });
});

describe("cardMemoryKey", () => {
  for (const [url, key] of [
    ["https://Agent.example/.well-known/agent-card.json", "https://agent.example"],
    ["https://agent.example/.well-known/agent.json", "https://agent.example"],
    ["https://agent.example:443", "https://agent.example"],
    ["https://agent.example:8443/?a=b#c", "https://agent.example:8443"],
    ["http://agent.example", "http://agent.example"],
    ["https://user:secret@agent.example/", "https://agent.example"],
    ["https://agent.example/agents/a/.well-known/agent-card.json", "https://agent.example/agents/a"],
    ["https://agent.example/agents/x/../a//", "https://agent.example/agents/a"],
    ["https://agent.example/a/agent-card.json?token=secret", "https://agent.example/a/agent-card.json"],
    ["file:///etc/card.json", undefined],
    ["agent.example", undefined],
  ] as const) {
    it(`of ${url} is ${key}`, () => expect(cardMemoryKey(url)).toBe(key));
  }
});
