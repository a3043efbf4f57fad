import { describe, expect, it } from "vitest";
import type { RememberedCard } from "./card-memory.ts";
import { cardMemoryKey, createCardMemory } from "./card-memory.ts";

const card = (outline = "{}"): RememberedCard => ({
  thumbprints: ["k"],
  outline,
  digest: "d",
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

  it("leaves out what cards declare when that gets too much, of those not met for the longest time, and keeps the keys", async () => {
    const memory = createCardMemory({ maxLength: 10 });
    const { outline: _, ...bare } = card();
    await memory.write("a", card("aaaa"));
    await memory.write("b", card("bbbb"));
    await memory.write("b", card("bbbbbb"));
    expect(await memory.read("a")).toEqual(card("aaaa"));
    await memory.write("c", card("cccc"));
    expect([await memory.read("a"), await memory.read("b")]).toEqual([card("aaaa"), bare]);
    await memory.write("d", card("d".repeat(11)));
    expect([await memory.read("c"), await memory.read("d")]).toEqual([card("cccc"), bare]);
    await memory.write("b", card("b"));
    expect([await memory.read("a"), await memory.read("b")]).toEqual([card("aaaa"), card("b")]);
  });

  it("writes nothing when something else is there than was expected", async () => {
    const memory = createCardMemory();
    expect(await memory.write("a", card("1"), card("0"))).toBe(false);
    expect(await memory.write("a", card("1"), null)).toBe(true);
    expect(await memory.write("a", card("2"), null)).toBe(false);
    const read = await memory.read("a");
    expect(await memory.write("a", card("3"), read)).toBe(true);
    expect(await memory.write("a", card("4"), read)).toBe(false);
    expect(await memory.write("a", card("4"), card("3"))).toBe(true); // a copy will do
    await memory.forget("a");
    expect(await memory.write("a", card("5"), card("4"))).toBe(false);
    expect(await memory.read("a")).toBeUndefined();
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
    ["https://agent.example:8443/?#c", "https://agent.example:8443"],
    ["http://agent.example", "http://agent.example"],
    ["https://user:secret@agent.example/", "https://agent.example"],
    ["https://agent.example/agents/a/.well-known/agent-card.json", "https://agent.example/agents/a"],
    ["https://agent.example/agents/x/../a//", "https://agent.example/agents/a"],
    // What openssl has for "?token=secret"
    [
      "https://agent.example/a/.well-known/agent-card.json?token=secret",
      "https://agent.example/a?sha256-86yXVHoxj020-V06XlD9CKsAI3FxHLMLLenWTpU0tXI",
    ],
    ["file:///etc/card.json", undefined],
    ["blob:https://agent.example/0b5a", undefined],
    ["agent.example", undefined],
  ] as const) {
    it(`of ${url} is ${key}`, () => expect(cardMemoryKey(url)).resolves.toBe(key));
  }
});
