import { describe, expect, it } from "vitest";
import { CardNotFoundError } from "../errors.ts";
import { findCardUrls } from "./card-reference.ts";

const card = "/.well-known/agent-card.json";
const older = "/.well-known/agent.json";

describe("where the card of an agent is looked for", () => {
  for (const [reference, ...urls] of [
    ["clerk.example", `https://clerk.example${card}`, `https://clerk.example${older}`],
    ["clerk.example:8443", `https://clerk.example:8443${card}`, `https://clerk.example:8443${older}`],
    ["  https://clerk.example/ ", `https://clerk.example${card}`, `https://clerk.example${older}`],
    ["https://clerk.example/#about", `https://clerk.example${card}`, `https://clerk.example${older}`],
    ["localhost:4000", `http://localhost:4000${card}`, `http://localhost:4000${older}`],
    ["agents.localhost", `http://agents.localhost${card}`, `http://agents.localhost${older}`],
    ["127.0.0.1:4000", `http://127.0.0.1:4000${card}`, `http://127.0.0.1:4000${older}`],
    ["[::1]:4000", `http://[::1]:4000${card}`, `http://[::1]:4000${older}`],
    ["192.168.1.4", `https://192.168.1.4${card}`, `https://192.168.1.4${older}`],
    ["bücher.example", `https://xn--bcher-kva.example${card}`, `https://xn--bcher-kva.example${older}`],
    ["https://clerk.example/cards/clerk.json", "https://clerk.example/cards/clerk.json"],
    ["https://clerk.example/.well-known/agent", "https://clerk.example/.well-known/agent"],
    ["localhost:4000/my.json?key=1", "http://localhost:4000/my.json?key=1"],
    [
      "https://clerk.example/agents/clerk/",
      `https://clerk.example/agents/clerk${card}`,
      `https://clerk.example/agents/clerk${older}`,
      "https://clerk.example/agents/clerk/",
    ],
    [
      "https://clerk.example/card?of=clerk",
      `https://clerk.example/card${card}`,
      `https://clerk.example/card${older}`,
      "https://clerk.example/card?of=clerk",
    ],
  ] as const) {
    it(`is ${urls[0]} for ${reference}`, () => {
      expect(findCardUrls(reference).map(String)).toEqual(urls);
    });
  }

  it("may be told by a URL, which is not changed", () => {
    const url = new URL("https://clerk.example/x.json#part");
    expect(findCardUrls(url).map(String)).toEqual(["https://clerk.example/x.json"]);
    expect(url.hash).toBe("#part");
  });

  for (const reference of [
    "",
    "   ",
    "http://",
    "ftp://clerk.example",
    "file:///etc/card.json",
    "./card.json",
    "/tmp/card.json",
    "data:application/json,{}",
    "mailto:clerk@clerk.example",
    "two words",
    "{}",
    "https://clerk.example:99999",
    "\u001b[31mred",
  ]) {
    it(`is nowhere for ${JSON.stringify(reference)}`, () => {
      expect(() => findCardUrls(reference)).toThrow(CardNotFoundError);
    });
  }

  it("is not told by a URL with a password in it, which is not repeated", () => {
    let thrown: unknown;
    try {
      findCardUrls("https://clerk:secret@clerk.example/?token=secret");
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(CardNotFoundError);
    expect(JSON.stringify(thrown) + String(thrown)).not.toContain("secret");
  });
});
