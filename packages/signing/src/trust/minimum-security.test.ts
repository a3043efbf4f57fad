import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { preparePolicy } from "../verify/prepared-policy.ts";
import { findMissingSecurity } from "./minimum-security.ts";
import { readOutline } from "./outline.ts";
import type { MinimumSecurity } from "./trust-policy.ts";

const securitySchemes = {
  m: { mtlsSecurityScheme: {} },
  k: { apiKeySecurityScheme: { location: "header" } },
};
const needs = (...schemes: string[]): JsonObject =>
  schemes.length === 0 ? {} : { schemes: Object.fromEntries(schemes.map((name) => [name, {}])) };
const asks = (...securityRequirements: JsonObject[]): JsonObject => ({
  securitySchemes,
  securityRequirements,
});
const tokensBy = (flow: string, tokenUrl = "https://id.example/token"): JsonObject => ({
  oauth2SecurityScheme: { flows: { [flow]: { tokenUrl } } },
});
const at = (...urls: string[]): JsonObject => ({ supportedInterfaces: urls.map((url) => ({ url })) });

const schemes = ["mtlsSecurityScheme", "oauth2SecurityScheme"] as const;
const withKey =
  'Callers are let in with "k", which is not of a demanded kind (mtlsSecurityScheme, oauth2SecurityScheme), or has a flow that OAuth 2.1 has dropped.';

describe("the minimum of security", () => {
  const cases = {
    nothing: [{}, at("http://a.example")],
    "nothing, said so": [{ requirements: false, tls: false }, at("http://a.example")],
    "credentials of a card that asks for them": [{ requirements: true }, asks(needs("k"))],
    "credentials of a card that asks for none": [
      { requirements: true },
      asks(),
      ["securityRequirements", "The card demands no credentials."],
    ],
    "credentials of a card that does without them in one of its alternatives": [
      { requirements: true },
      asks(needs("k"), needs()),
      ["securityRequirements[1]", "Callers are let in without credentials."],
    ],
    "credentials of a card with a skill for everybody": [
      { requirements: true },
      { ...asks(needs("k")), skills: [{ id: "s", securityRequirements: [needs()] }] },
      ["skills[0].securityRequirements[0]", "Callers are let in without credentials."],
    ],
    "credentials of a card with a skill that asks for what the card asks for": [
      { requirements: true },
      { ...asks(needs("k")), skills: [{ id: "s" }] },
    ],
    "credentials of a card that asks for what it does not declare, among others": [
      { requirements: true },
      asks(needs("k", "ghost")),
      [
        "securityRequirements[0]",
        'Callers are asked for "ghost", which the card does not declare as a scheme of a known kind.',
      ],
    ],
    "credentials of a card that asks for what is of no kind": [
      { requirements: true },
      { ...asks(needs("s")), securitySchemes: { s: { futureSecurityScheme: {} } } },
      [
        "securityRequirements[0]",
        'Callers are asked for "s", which the card does not declare as a scheme of a known kind.',
      ],
    ],
    "credentials of a card with a skill that asks for what is not declared": [
      { requirements: true },
      { ...asks(needs("k")), skills: [{ id: "s", securityRequirements: [needs("ghost")] }] },
      [
        "skills[0].securityRequirements[0]",
        'Callers are asked for "ghost", which the card does not declare as a scheme of a known kind.',
      ],
    ],
    "TLS of a card that has it": [{ tls: true }, at("https://a.example", "grpcs://a", "a.example:50051")],
    "TLS of a card on this machine": [
      { tls: true },
      at("http://localhost:1", "http://127.0.0.1", "http://[::1]:2"),
    ],
    "TLS of a card that does without": [
      { tls: true },
      at("https://a.example", "http://a.example", "grpc://a.example:1", "a.example:80"),
      ["supportedInterfaces[1].url", 'An interface is reached without TLS, at "http://a.example".'],
      ["supportedInterfaces[2].url", 'An interface is reached without TLS, at "grpc://a.example:1".'],
      ["supportedInterfaces[3].url", 'An interface is reached without TLS, at "a.example:80".'],
    ],
    "TLS of a card that does not say": [
      { tls: true },
      at("ftp://a.example", "a.example/path"),
      ["supportedInterfaces[0].url", 'An interface may or may not be reached by TLS, at "ftp://a.example".'],
      ["supportedInterfaces[1].url", 'An interface may or may not be reached by TLS, at "a.example/path".'],
    ],
    "TLS where tokens are had": [
      { tls: true },
      {
        securitySchemes: {
          a: tokensBy("clientCredentials", "http://id.example/token"),
          b: tokensBy("clientCredentials", "http://localhost:8080/token"),
          c: tokensBy("clientCredentials", "https://id.example/token"),
          d: { openIdConnectSecurityScheme: { openIdConnectUrl: "id.example:444" } },
        },
      },
      [
        "securitySchemes.a.oauth2SecurityScheme.flows.clientCredentials.tokenUrl",
        'The tokenUrl of the security scheme "a" is reached without TLS, at "http://id.example/token".',
      ],
      [
        "securitySchemes.d.openIdConnectSecurityScheme.openIdConnectUrl",
        'The openIdConnectUrl of the security scheme "d" may or may not be reached by TLS, at "id.example:444".',
      ],
    ],
    "a kind of scheme that is demanded": [{ schemes }, asks(needs("m"))],
    "a kind of scheme that is demanded beside another one": [{ schemes }, asks(needs("k", "m"))],
    "a kind of scheme that is not demanded by each of the alternatives": [
      { schemes },
      asks(needs("m"), needs("k")),
      ["securityRequirements[1]", withKey],
    ],
    "a kind of scheme of a card that declares it and demands nothing": [
      { schemes },
      asks(),
      ["securityRequirements", "The card demands no credentials."],
    ],
    "a kind of scheme of a card that demands what it does not declare": [
      { schemes },
      asks(needs("__proto__")),
      [
        "securityRequirements[0]",
        'Callers are asked for "__proto__", which the card does not declare as a scheme of a known kind.',
      ],
    ],
    "a kind of scheme of a card that has tokens in a way that OAuth has given up": [
      { schemes },
      {
        securitySchemes: { o: tokensBy("password"), p: tokensBy("implicit"), q: tokensBy("deviceCode") },
        securityRequirements: [needs("o"), needs("p"), needs("q"), needs("p", "q")],
      },
      [
        "securityRequirements[0]",
        'Callers are let in with "o", which is not of a demanded kind (mtlsSecurityScheme, oauth2SecurityScheme), or has a flow that OAuth 2.1 has dropped.',
      ],
      [
        "securityRequirements[1]",
        'Callers are let in with "p", which is not of a demanded kind (mtlsSecurityScheme, oauth2SecurityScheme), or has a flow that OAuth 2.1 has dropped.',
      ],
    ],
    "a kind of scheme of a card with a skill that has a weaker one": [
      { schemes },
      { ...asks(needs("m")), skills: [{ id: "s", securityRequirements: [needs("k")] }] },
      ["skills[0].securityRequirements[0]", withKey],
    ],
  } satisfies Record<string, [MinimumSecurity, JsonObject, ...[path: string, text: string][]]>;
  for (const [what, [minimum, card, ...findings]] of Object.entries(cases)) {
    it(`demands ${what}`, () => {
      expect(
        findMissingSecurity(readOutline(card), minimum).map(({ text, paths }) => [paths[0], text]),
      ).toEqual(findings);
    });
  }
});

describe("a trust policy", () => {
  for (const [policy, message] of [
    [{ newKeyDelayMs: -1 }, "newKeyDelayMs: must be a number from 0 on"],
    [{ newKeyDelayMs: Number.NaN }, "newKeyDelayMs: must be a number from 0 on"],
  ] as const) {
    it(`is refused: ${message}`, () => {
      expect(() => preparePolicy(policy)).toThrow(new TypeError(message));
    });
  }

  it("may say all that it can", () => {
    preparePolicy({
      newKeyDelayMs: Number.POSITIVE_INFINITY,
      onDowngrade: "alarm",
      minimumSecurity: { schemes },
    });
  });
});
