import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { findDowngrades, findMoves } from "./compare-cards.ts";
import { readOutline } from "./outline.ts";

const at = (...places: (string | [url: string, tenant: string])[]): JsonObject => ({
  supportedInterfaces: places.map((place) => {
    const [url, tenant] = typeof place === "string" ? [place] : place;
    const called = { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" };
    return tenant === undefined ? called : { ...called, tenant };
  }),
});
const tokensAt = (tokenUrl: string): JsonObject => ({
  securitySchemes: { o: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl } } } } },
});
const tokenPath = "securitySchemes.o.oauth2SecurityScheme.flows.clientCredentials.tokenUrl";

type Finding = [path: string, text: string];
const moved = (index: number, url: string): Finding => [
  `supportedInterfaces[${index}].url`,
  `An interface is in a place where none was before, at "${url}".`,
];
const movedTokens = (url: string): Finding => [
  tokenPath,
  `The tokenUrl of the security scheme "o" is in a place where none was before, at "${url}".`,
];

describe("a card that leads elsewhere", () => {
  const cases = {
    "has an interface at another port": [
      at("https://a.example/rpc"),
      at("https://a.example:31337/rpc"),
      moved(0, "https://a.example:31337/rpc"),
    ],
    "has an interface at another path": [
      at("https://a.example/agents/bank"),
      at("https://a.example/agents/mallory"),
      moved(0, "https://a.example/agents/mallory"),
    ],
    "has an interface of another tenant": [
      at(["https://a.example/rpc", "acme"]),
      at(["https://a.example/rpc", "mallory"]),
      [
        "supportedInterfaces[0].url",
        'An interface for the tenant "mallory" is in a place where none was before, at "https://a.example/rpc".',
      ],
    ],
    "has an interface more on its host": [
      at("https://a.example/rpc"),
      at("https://a.example/rpc", "a.example:50051"),
      moved(1, "a.example:50051"),
    ],
    "has its tokens of another tenant of the same identity provider": [
      tokensAt("https://login.example/good/token"),
      tokensAt("https://login.example/evil/token"),
      movedTokens("https://login.example/evil/token"),
    ],
    "has its tokens at another port": [
      tokensAt("https://login.example/token"),
      tokensAt("https://login.example:8443/token"),
      movedTokens("https://login.example:8443/token"),
    ],
    "has its tokens on its own host, for the first time": [
      at("https://a.example/rpc"),
      { ...at("https://a.example/rpc"), ...tokensAt("https://a.example/token") },
      movedTokens("https://a.example/token"),
    ],
    "is called otherwise": [
      { name: "Bank" },
      { name: "Mallory" },
      ["name", 'The card is called "Mallory", no longer "Bank".'],
    ],
    "is of an older version": [
      { version: "2.0.0" },
      { version: "1.10.0" },
      ["version", 'The card has version "1.10.0", no longer "2.0.0".'],
    ],
    "is of a version before the last one": [
      { version: "v2.0" },
      { version: "2.0.0-rc.1" },
      ["version", 'The card has version "2.0.0-rc.1", no longer "v2.0".'],
    ],
  } satisfies Record<string, [JsonObject, JsonObject, ...Finding[]]>;
  for (const [what, [before, after, ...findings]] of Object.entries(cases)) {
    it(`is told of, and is no weaker, when it ${what}`, () => {
      const [was, is] = [readOutline(before), readOutline(after)];
      expect(findMoves(was, is).map(({ text, paths }) => [paths[0], text])).toEqual(findings);
      expect(findMoves(is, is)).toEqual([]);
      expect(findDowngrades(was, is)).toEqual([]);
    });
  }
});

describe("a card leads nowhere else when it", () => {
  const cases = {
    "writes the same addresses in other words": [
      at("https://a.example/rpc", "https://a.example"),
      at("HTTPS://A.example.:443/rpc/", "a.example:443"),
    ],
    "has TLS now": [at("http://a.example/rpc"), at("https://a.example/rpc")],
    "has fewer interfaces": [at("https://a.example/a", "https://a.example/b"), at("https://a.example/b")],
    "is on another host, which is for findDowngrades to say": [
      at("https://a.example"),
      at("https://b.example/x"),
    ],
    "has its tokens on another host, which is for findDowngrades to say": [
      tokensAt("https://a.example"),
      tokensAt("https://b.example/x"),
    ],
    "is of a newer version": [{ version: "1.9.9" }, { version: "1.10" }],
    "is of the version that was prepared": [{ version: "2.0.0-rc.1" }, { version: "2.0.0" }],
    "is of a version that is no number": [{ version: "summer" }, { version: "autumn" }],
    "is of a version that is a number now": [{ version: "summer" }, { version: "1" }],
    "describes itself in other words": [{ description: "a" }, { description: "b" }],
  } satisfies Record<string, [JsonObject, JsonObject]>;
  for (const [what, [before, after]] of Object.entries(cases)) {
    it(what, () => expect(findMoves(readOutline(before), readOutline(after))).toEqual([]));
  }
});
