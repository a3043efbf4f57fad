import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { findExtendedDowngrades } from "./downgrade.ts";

const tokensAt = (tokenUrl: string): JsonObject => ({
  oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl } } },
});
const rpc = { url: "https://a.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" };
const publicCard: JsonObject = {
  supportedInterfaces: [rpc],
  securitySchemes: { o: tokensAt("https://id.example/token"), m: { mtlsSecurityScheme: {} } },
  securityRequirements: [{ schemes: { o: {} } }],
  skills: [{ id: "s" }],
};

describe("an extended card is weaker than the public one when it", () => {
  for (const [what, members, texts] of [
    [
      "is reached without TLS",
      { supportedInterfaces: [{ ...rpc, url: "http://a.example/rpc" }] },
      ['An interface is reached without TLS, at "http://a.example/rpc".'],
    ],
    [
      "is reached on another host",
      { supportedInterfaces: [rpc, { ...rpc, url: "https://evil.example" }] },
      ['An interface is on another host, "evil.example".'],
    ],
    [
      "has its tokens on another host",
      { securitySchemes: { o: tokensAt("https://evil.example/token") } },
      ['The tokenUrl of the security scheme "o" is on another host, "evil.example".'],
    ],
    [
      "has other tokens without TLS",
      { securitySchemes: { more: tokensAt("http://id.example/token") } },
      ['The tokenUrl of the security scheme "more" is reached without TLS, at "http://id.example/token".'],
    ],
    [
      "has a weaker scheme of the same name",
      { securitySchemes: { m: { httpAuthSecurityScheme: { scheme: "Basic" } } } },
      ['The security scheme "m" is of a weaker kind: httpAuthSecurityScheme, no longer mtlsSecurityScheme.'],
    ],
  ] satisfies [string, JsonObject, string[]][]) {
    it(what, () => {
      const found = findExtendedDowngrades(publicCard, { ...publicCard, ...members });
      expect(found.map(({ text }) => text)).toEqual(texts);
    });
  }

  it("may say less of what is demanded, and have other skills and schemes", () => {
    const extended: JsonObject = {
      supportedInterfaces: [rpc],
      securitySchemes: { own: tokensAt("https://a.example/token") },
      securityRequirements: [{}],
      skills: [{ id: "s", securityRequirements: [{}] }, { id: "t" }],
    };
    expect(findExtendedDowngrades(publicCard, extended)).toEqual([]);
  });
});
