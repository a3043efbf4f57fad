import { describe, expect, it } from "vitest";
import { checkJku, requireHost } from "./key-set-url.ts";

const card = "https://agents.example.org/.well-known/agent-card.json";

describe("checkJku", () => {
  for (const [jku, hosts, cardUrl] of [
    ["https://agents.example.org/keys.json", undefined, card],
    ["https://agents.example.org:443/keys.json", undefined, card],
    ["https://keys.example.org/set", ["keys.example.org"], card],
    ["https://keys.example.org/set", ["KEYS.example.org:443"], undefined],
    ["https://keys.example.org:8443/set", ["keys.example.org:8443"], undefined],
    ["http://localhost:4000/keys", ["localhost:4000"], undefined],
    ["http://127.0.0.1:4000/keys", undefined, "http://127.0.0.1:4000/card"],
    ["http://[::1]:4000/keys", undefined, "http://[::1]:4000/card"],
  ] as const) {
    it(`allows ${jku} by ${hosts ?? `a card of ${cardUrl}`}`, () => {
      expect(check(jku, hosts, cardUrl)).toEqual(new URL(jku));
    });
  }

  for (const [why, jku, hosts, cardUrl, problem] of [
    [
      "another host",
      "https://evil.example/keys",
      ["keys.example.org"],
      card,
      "that the policy does not allow",
    ],
    [
      "another port",
      "https://keys.example.org:8443/",
      ["keys.example.org"],
      card,
      "that the policy does not allow",
    ],
    [
      "a subdomain",
      "https://a.keys.example.org/",
      ["keys.example.org"],
      card,
      "that the policy does not allow",
    ],
    [
      "a trailing dot",
      "https://keys.example.org./",
      ["keys.example.org"],
      card,
      "that the policy does not allow",
    ],
    [
      "the card's origin, when hosts are named",
      "https://agents.example.org/k",
      ["keys.example.org"],
      card,
      "that the policy does not allow",
    ],
    [
      "no host, when none may be asked",
      "https://agents.example.org/k",
      [],
      card,
      "that the policy does not allow",
    ],
    ["another origin", "https://evil.example/keys", undefined, card, "came from https://agents.example.org"],
    [
      "another port than the card's",
      "https://agents.example.org:1/",
      undefined,
      card,
      "the card's own origin",
    ],
    ["an unknown origin", "https://evil.example/keys", undefined, undefined, "is not known"],
    [
      "an opaque origin",
      "https://evil.example/keys",
      undefined,
      "file:///card.json",
      "the card's own origin",
    ],
    ["http", "http://keys.example.org/", ["keys.example.org"], card, "not an https URL"],
    [
      "http of the card's origin",
      "http://agents.example.org/",
      undefined,
      "http://agents.example.org/",
      "https",
    ],
    [
      "what only looks like this machine",
      "http://127.0.0.1.evil.example/",
      ["127.0.0.1.evil.example"],
      card,
      "https",
    ],
    ["another scheme", "data:application/json,{}", undefined, card, "not an https URL"],
    ["credentials", "https://u:p@agents.example.org/", undefined, card, "user name or password"],
    ["a relative URL", "/keys.json", undefined, card, "not an absolute URL"],
    ["no text", 7, undefined, card, "not an absolute URL"],
    [
      "a text too long",
      `https://agents.example.org/${"a".repeat(3000)}`,
      undefined,
      card,
      "not an absolute URL",
    ],
  ] as const) {
    it(`refuses ${why}`, () => {
      expect(check(jku, hosts, cardUrl)).toEqual(expect.stringContaining(problem));
    });
  }

  it("repeats neither credentials nor query, and nothing that a terminal obeys", () => {
    const verdict = check(
      `https://user:secret@evil.example/\u009b${"a".repeat(500)}?token=secret`,
      undefined,
      card,
    );
    expect(verdict).toEqual(expect.not.stringMatching(/secret|\u009b|a{160}/));
  });

  it("asks without the fragment", () => {
    const verdict = check("https://agents.example.org/keys#a", undefined, card);
    expect(verdict).toEqual(new URL("https://agents.example.org/keys"));
  });
});

describe("requireHost", () => {
  for (const host of [
    "https://keys.example.org",
    "keys.example.org/set",
    "*.example.org",
    "user@host",
    "",
    "a b",
    "host#",
  ]) {
    it(`refuses ${JSON.stringify(host)} as a host`, () => {
      expect(() => requireHost(host)).toThrow(TypeError);
    });
  }
});

function check(jku: unknown, hosts: readonly string[] | undefined, cardUrl: string | undefined) {
  const rule = hosts && new Set(hosts.map(requireHost));
  return checkJku(jku, rule, cardUrl === undefined ? undefined : new URL(cardUrl));
}
