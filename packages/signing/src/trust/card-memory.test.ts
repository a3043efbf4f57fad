import { describe, expect, it } from "vitest";
import type { RememberedCard } from "./card-memory.ts";
import { cardMemoryKey, createCardMemory, trimCards } from "./card-memory.ts";

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

  it("keeps ten thousand agents, and forgets the one that was not met for the longest time", async () => {
    const memory = createCardMemory();
    await memory.write("a", card());
    await memory.write("b", card());
    for (let other = 2; other < 10_000; other++) await memory.write(`${other}`, card());
    await memory.read("a");
    await memory.write("c", card());
    expect([await memory.read("a"), await memory.read("b"), await memory.read("c")]).toEqual([
      card(),
      undefined,
      card(),
    ]);
  });

  it("keeps 64 Mi units of what cards declare, of those met last, and all keys", async () => {
    const memory = createCardMemory();
    const { outline: _, ...bare } = card();
    const half = "x".repeat(32 * 1024 * 1024);
    await memory.write("a", card(half));
    await memory.write("b", card(half));
    expect((await memory.read("a"))?.outline).toHaveLength(half.length);
    await memory.write("c", card("x"));
    expect((await memory.read("a"))?.outline).toHaveLength(half.length);
    expect([await memory.read("b"), await memory.read("c")]).toEqual([bare, card("x")]);
    await memory.write("b", card("x"));
    expect(await memory.read("b")).toEqual(card("x"));
  });

  it("leaves out first what is too much by itself, so that others keep theirs", () => {
    const cards = new Map([
      ["a", card("aaaa")],
      ["b", card("b".repeat(11))],
      ["c", card("cccccc")],
    ]);
    trimCards(cards, 10);
    expect([...cards.values()].map(({ outline }) => outline)).toEqual(["aaaa", undefined, "cccccc"]);
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
