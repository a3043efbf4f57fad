import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findDowngrades } from "./downgrade.ts";

const mtls = { mtlsSecurityScheme: {} };
const oidc = { openIdConnectSecurityScheme: { openIdConnectUrl: "https://id.example/.well-known" } };
const oidc2 = { openIdConnectSecurityScheme: { openIdConnectUrl: "https://id2.example" } };
const bearer = { httpAuthSecurityScheme: { scheme: "Bearer" } };
const dpop = { httpAuthSecurityScheme: { scheme: "DPoP" } };
const basic = { httpAuthSecurityScheme: { scheme: "basic" } };
const apiKey = (location: string) => ({ apiKeySecurityScheme: { location, name: "X-Key" } });
const flow = (name: string, members: JsonObject) => ({
  oauth2SecurityScheme: { flows: { [name]: members } },
});
const code = (members: JsonObject = {}) =>
  flow("authorizationCode", {
    authorizationUrl: "https://id.example/authorize",
    tokenUrl: "https://id.example/token",
    scopes: {},
    ...members,
  });

const schemes = (members: JsonObject): JsonObject => ({ securitySchemes: members });

/** `demands("a", { b: ["x"] })`: a, or b with the scope x. */
const demands = (...alternatives: (string | Record<string, string[]>)[]): JsonValue[] =>
  alternatives.map((alternative) => {
    const scopes = typeof alternative === "string" ? { [alternative]: [] } : alternative;
    const entries = Object.entries(scopes).map(([name, list]) => [name, list.length > 0 ? { list } : {}]);
    return entries.length === 0 ? {} : { schemes: Object.fromEntries(entries) };
  });

/** A card that declares schemes of every strength, with these requirements. */
const asks = (...alternatives: Parameters<typeof demands>): JsonObject => ({
  securitySchemes: {
    mtls,
    oauth: code(),
    oauth2: code({ tokenUrl: "https://other.example" }),
    bearer,
    basic,
  },
  securityRequirements: demands(...alternatives),
});

const skill = (id: string, ...alternatives: Parameters<typeof demands>): JsonObject => ({
  id,
  ...(alternatives.length === 0 ? {} : { securityRequirements: demands(...alternatives) }),
});

const at = (...urls: string[]): JsonObject => ({
  supportedInterfaces: urls.map((url) => ({ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" })),
});
const binds = (...interfaces: [binding: string, url: string][]): JsonObject => ({
  supportedInterfaces: interfaces.map(([protocolBinding, url]) => ({
    url,
    protocolBinding,
    protocolVersion: "1.0",
  })),
});
const speaks = (...versions: [binding: string, version: string][]): JsonObject => ({
  supportedInterfaces: versions.map(([protocolBinding, protocolVersion]) => ({
    url: "https://a.example",
    protocolBinding,
    protocolVersion,
  })),
});

type Finding = [path: string, text: string];

/** Findings, by what is wrong and where. */
const letIn = (index: number, name: string, without: string): Finding => [
  `securityRequirements[${index}]`,
  `Callers are let in with "${name}", without ${without}.`,
];
const lost = (name: string): Finding => [
  `securitySchemes.${name}`,
  `The security scheme "${name}" is gone, and nothing as strong has taken its place.`,
];
const stillAsked = (name: string): Finding => [
  `securitySchemes.${name}`,
  `The security scheme "${name}" is gone, though callers are still asked for it.`,
];
const weakerWay = (kind: string): Finding => [
  `securitySchemes.s.${kind}`,
  'The security scheme "s" is used in a weaker way.',
];
const weakerKind = (kind: string, before: string): Finding => [
  kind.startsWith("none") ? "securitySchemes.s" : `securitySchemes.s.${kind}`,
  `The security scheme "s" is of a weaker kind: ${kind}, no longer ${before}.`,
];
/** `below` is a member of a flow of OAuth 2.0, or a whole path within the scheme. */
const elsewhere = (name: string, below: string, host: string): Finding => [
  `securitySchemes.${name}.${below.includes("Scheme.") ? below : `oauth2SecurityScheme.flows.${below}`}`,
  `The ${below.split(".").at(-1)} of the security scheme "${name}" is on another host, "${host}".`,
];
const onHost = (index: number, host: string): Finding => [
  `supportedInterfaces[${index}].url`,
  `An interface is on another host, "${host}".`,
];
const withoutTls = (index: number, url: string): Finding => [
  `supportedInterfaces[${index}].url`,
  `An interface is reached without TLS, at "${url}".`,
];
const firstWithoutTls = (index: number, url: string): Finding => [
  `supportedInterfaces[${index}].url`,
  `The interface that comes first is reached without TLS, at "${url}".`,
];

/** What is found of a token URL in cleartext, on a host that nothing before was on. */
const foreignToken = (name: string, url = "http://evil.example/token"): [Finding, Finding] => {
  const path = `securitySchemes.${name}.oauth2SecurityScheme.flows.clientCredentials.tokenUrl`;
  const subject = `The tokenUrl of the security scheme "${name}" is`;
  return [
    [path, `${subject} on another host, "${new URL(url).hostname}".`],
    [path, `${subject} reached without TLS, at "${url}".`],
  ];
};

describe("a weaker card", () => {
  const cases = {
    // Requirements: alternatives of schemes that are needed together (L-9).
    "demands nothing any more": [
      asks("oauth"),
      { securitySchemes: asks()["securitySchemes"] ?? {} },
      ["securityRequirements", "No credentials are demanded any more."],
    ],
    "has lost its list of requirements to what is none": [
      asks("oauth"),
      { ...asks(), securityRequirements: "oauth" },
      ["securityRequirements", "No credentials are demanded any more."],
    ],
    "has an empty alternative": [
      asks("oauth"),
      asks("oauth", {}),
      ["securityRequirements[1]", "Callers are let in without credentials."],
    ],
    "has an alternative that its reader takes for empty": [
      asks("oauth"),
      { ...asks(), securityRequirements: [{ oauth: ["admin"] }] },
      ["securityRequirements[0]", "Callers are let in without credentials."],
    ],
    "has an alternative that is met with less": [
      asks("oauth"),
      asks("oauth", "bearer"),
      letIn(1, "bearer", 'the security scheme "oauth"'),
    ],
    "has an alternative with a scheme as strong, which is another one": [
      asks("oauth"),
      asks("oauth", "oauth2"),
      letIn(1, "oauth2", 'the security scheme "oauth"'),
    ],
    "demands one scheme of two": [
      asks({ oauth: [], mtls: [] }),
      asks("oauth"),
      letIn(0, "oauth", 'the security scheme "mtls"'),
    ],
    "demands the stronger scheme of two, since one cannot stand for both": [
      asks({ mtls: [], basic: [] }),
      asks("mtls"),
      letIn(0, "mtls", 'the security scheme "basic"'),
    ],
    "demands one new strong scheme in the place of two": [
      asks({ bearer: [], basic: [] }),
      asks("mtls"),
      letIn(0, "mtls", 'the security scheme "basic"'),
    ],
    "demands fewer scopes": [
      asks({ oauth: ["read", "write"] }),
      asks({ oauth: ["read"] }),
      letIn(0, "oauth", 'the scope "write" of "oauth"'),
    ],
    "demands another scope": [
      asks({ oauth: ["a", "b"] }),
      asks({ oauth: ["c"] }),
      letIn(0, "oauth", 'the scopes "a", "b" of "oauth"'),
    ],
    "replaces a scheme with scopes by a stronger one without them": [
      { ...asks({ basic: ["admin"] }) },
      asks("oauth"),
      letIn(0, "oauth", 'the security scheme "basic"'),
    ],
    "is compared with the most similar of the old alternatives": [
      asks({ mtls: [], bearer: [], basic: [] }, { oauth: ["a"] }),
      asks({ oauth: ["b"] }),
      letIn(0, "oauth", 'the scope "a" of "oauth"'),
    ],
    "has too many requirements to be judged": [
      asks(...Array.from({ length: 400 }, (_, index) => ({ oauth: [`a${index}`] }))),
      asks(...Array.from({ length: 400 }, (_, index) => ({ oauth: [`b${index}`] }))),
      ["securityRequirements", "There are too many requirements to be compared with those before."],
    ],
    // Skills stand in the place of the card's.
    "has a skill that demands less": [
      { ...asks("bearer"), skills: [skill("a"), skill("s", { oauth: ["x"] })] },
      { ...asks("bearer"), skills: [skill("s", { oauth: [] })] },
      [
        "skills[0].securityRequirements[0]",
        'For the skill "s": Callers are let in with "oauth", without the scope "x" of "oauth".',
      ],
    ],
    "has a skill that demands less than the card did for it": [
      { ...asks("oauth"), skills: [skill("s")] },
      { ...asks("oauth"), skills: [skill("s", {})] },
      ["skills[0].securityRequirements[0]", 'For the skill "s": Callers are let in without credentials.'],
    ],
    "has a skill that demands no more than the card does now": [
      { ...asks("bearer"), skills: [skill("s", { oauth: ["x"] })] },
      { ...asks("bearer"), skills: [skill("s")] },
      [
        "skills[0].securityRequirements[0]",
        'For the skill "s": Callers are let in with "bearer", without the security scheme "oauth".',
      ],
    ],
    "hides a weaker skill behind one of the same id": [
      { ...asks("oauth"), skills: [skill("s", "oauth")] },
      { ...asks("oauth"), skills: [skill("s", "oauth"), skill("s", {})] },
      ["skills[1].securityRequirements[0]", 'For the skill "s": Callers are let in without credentials.'],
    ],
    // Schemes.
    "has lost its only scheme": [schemes({ oauth: code() }), {}, lost("oauth")],
    "has lost its strongest scheme": [
      schemes({ mtls, oauth: code() }),
      schemes({ oauth: code() }),
      lost("mtls"),
    ],
    "has another authorization server by another name": [
      schemes({ "a b": code() }),
      schemes({ new: code({ tokenUrl: "https://evil.example/token" }) }),
      [
        'securitySchemes["a b"]',
        'The security scheme "a b" is gone, and nothing as strong has taken its place.',
      ],
      elsewhere("new", "authorizationCode.tokenUrl", "evil.example"),
    ],
    "asks for an API key in the place of a token": [
      schemes({ s: code() }),
      schemes({ s: apiKey("header") }),
      weakerKind("apiKeySecurityScheme", "oauth2SecurityScheme"),
    ],
    "asks for a token in the place of a certificate": [
      schemes({ s: mtls }),
      schemes({ s: oidc }),
      weakerKind("openIdConnectSecurityScheme", "mtlsSecurityScheme"),
      elsewhere("s", "openIdConnectSecurityScheme.openIdConnectUrl", "id.example"),
    ],
    "asks for what nobody knows": [
      schemes({ s: bearer }),
      schemes({ s: { futureSecurityScheme: {} } }),
      weakerKind("none that is known", "httpAuthSecurityScheme"),
    ],
    "asks for one of two things at once": [
      schemes({ s: bearer }),
      schemes({ s: { ...bearer, ...mtls } }),
      weakerKind("none that is known", "httpAuthSecurityScheme"),
    ],
    "asks for passwords in the place of bearer tokens": [
      schemes({ s: bearer }),
      schemes({ s: basic }),
      weakerWay("httpAuthSecurityScheme"),
    ],
    "has its API key in the query": [
      schemes({ s: apiKey("header") }),
      schemes({ s: apiKey("query") }),
      weakerWay("apiKeySecurityScheme"),
    ],
    "has gone back to the implicit flow": [
      schemes({ s: code() }),
      schemes({ s: flow("implicit", { authorizationUrl: "https://id.example/authorize" }) }),
      weakerWay("oauth2SecurityScheme"),
    ],
    "does not say how its tokens are to be had": [
      schemes({ s: code() }),
      schemes({ s: { oauth2SecurityScheme: {} } }),
      weakerWay("oauth2SecurityScheme"),
    ],
    "no longer demands PKCE": [
      schemes({ s: code({ pkceRequired: true }) }),
      schemes({ s: code() }),
      [
        "securitySchemes.s.oauth2SecurityScheme.flows.authorizationCode.pkceRequired",
        'The security scheme "s" no longer demands PKCE.',
      ],
    ],
    "has its token URL on another host": [
      schemes({ s: code() }),
      schemes({ s: code({ tokenUrl: "https://evil.example/token" }) }),
      elsewhere("s", "authorizationCode.tokenUrl", "evil.example"),
    ],
    "has its token URL on a host that only looks like the old one": [
      schemes({ s: code() }),
      schemes({ s: code({ tokenUrl: "https://id.example@evil.example/token" }) }),
      elsewhere("s", "authorizationCode.tokenUrl", "evil.example"),
    ],
    "has its token URL where its authorization URL was": [
      schemes({ s: code({ authorizationUrl: "https://login.example" }) }),
      schemes({ s: code({ authorizationUrl: "https://login.example", tokenUrl: "https://login.example" }) }),
      elsewhere("s", "authorizationCode.tokenUrl", "login.example"),
    ],
    "has a refresh URL on a host that was not named": [
      schemes({ s: code() }),
      schemes({ s: code({ refreshUrl: "https://evil.example" }) }),
      elsewhere("s", "authorizationCode.refreshUrl", "evil.example"),
    ],
    "has its authorization URL without TLS": [
      schemes({ s: code() }),
      schemes({ s: code({ authorizationUrl: "http://id.example/authorize" }) }),
      [
        "securitySchemes.s.oauth2SecurityScheme.flows.authorizationCode.authorizationUrl",
        'The authorizationUrl of the security scheme "s" is reached without TLS, at "http://id.example/authorize".',
      ],
    ],
    "has its discovery document on another host": [
      schemes({ s: oidc }),
      schemes({ s: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://id2.example" } } }),
      elsewhere("s", "openIdConnectSecurityScheme.openIdConnectUrl", "id2.example"),
    ],
    "has its metadata on another host": [
      schemes({ s: { oauth2SecurityScheme: { oauth2MetadataUrl: "https://a.example" } } }),
      schemes({ s: { oauth2SecurityScheme: { oauth2MetadataUrl: "https://b.example" } } }),
      elsewhere("s", "oauth2SecurityScheme.oauth2MetadataUrl", "b.example"),
    ],
    "keeps the device code and moves where the codes come from": [
      schemes({
        s: flow("deviceCode", { deviceAuthorizationUrl: "https://a.example", tokenUrl: "https://a.example" }),
      }),
      schemes({
        s: flow("deviceCode", { deviceAuthorizationUrl: "https://b.example", tokenUrl: "https://a.example" }),
      }),
      elsewhere("s", "deviceCode.deviceAuthorizationUrl", "b.example"),
    ],
    // Interfaces.
    "is reached without TLS": [
      at("https://a.example/rpc"),
      at("http://a.example/rpc"),
      withoutTls(0, "http://a.example/rpc"),
    ],
    "can also be reached without TLS": [
      at("https://a.example"),
      at("https://a.example", "http://a.example:8080"),
      withoutTls(1, "http://a.example:8080"),
    ],
    "is reached by gRPC in cleartext": [
      at("grpcs://a.example:443"),
      at("a.example:80"),
      withoutTls(0, "a.example:80"),
    ],
    "has moved to another host": [
      at("https://a.example/rpc"),
      at("https://b.example/rpc"),
      onHost(0, "b.example"),
    ],
    "has moved to a subdomain": [
      at("https://a.example/rpc"),
      at("https://x.a.example/rpc"),
      onHost(0, "x.a.example"),
    ],
    "has an interface on another host as well": [
      at("https://a.example"),
      at("https://a.example", "evil.example:443"),
      onHost(1, "evil.example"),
    ],
    "has a gRPC target that names another host behind a resolver": [
      at("https://a.example"),
      at("dns://a.example/evil.example:443"),
      onHost(0, "evil.example"),
    ],
    "has another host behind a user name, and an address that only parsers of URLs understand": [
      at("https://a.example"),
      at("https://a.example@evil.example", "https:\\\\evil.example", "ht\ntps:evil.example"),
      onHost(0, "evil.example"),
      onHost(1, "evil.example"),
      onHost(2, "evil.example"),
    ],
    "has an address that is none": [
      at("https://a.example"),
      at("https://a.example", "\u001b[31m"),
      onHost(1, ""),
    ],
    "speaks an older version": [
      speaks(["JSONRPC", "1.0"], ["GRPC", "1.0"]),
      speaks(["JSONRPC", "0.3"], ["GRPC", "1.0"]),
      ["supportedInterfaces", 'The binding "JSONRPC" is of protocol version "0.3", no longer of "1.0".'],
    ],
    "speaks an older version over another binding": [
      speaks(["JSONRPC", "1.10"]),
      speaks(["GRPC", "1.9"]),
      ["supportedInterfaces", 'The highest protocol version is "1.9", no longer "1.10".'],
    ],
    "speaks a version that is none": [
      speaks(["JSONRPC", "1.0"]),
      speaks(["JSONRPC", "latest"]),
      ["supportedInterfaces", 'The binding "JSONRPC" is of protocol version "", no longer of "1.0".'],
    ],
    // Addresses of schemes that were not there before.
    "asks for tokens of a stranger in the place of a secret": [
      { ...schemes({ b: bearer }), securityRequirements: demands("b") },
      {
        ...schemes({ b: bearer, o: flow("clientCredentials", { tokenUrl: "http://evil.example/token" }) }),
        securityRequirements: demands("o"),
      },
      ...foreignToken("o"),
    ],
    "asks for tokens of a stranger as well": [
      { ...schemes({ b: oidc }), securityRequirements: demands("b") },
      {
        ...schemes({ b: oidc, o: flow("clientCredentials", { tokenUrl: "http://evil.example/token" }) }),
        securityRequirements: demands({ b: [], o: [] }),
      },
      ...foreignToken("o"),
    ],
    "asks for tokens of a stranger under the name of a secret": [
      schemes({ s: bearer }),
      schemes({ s: flow("clientCredentials", { tokenUrl: "http://evil.example/token" }) }),
      ...foreignToken("s"),
    ],
    "asks for tokens of a stranger where it has asked for nothing": [
      at("https://a.example"),
      {
        ...at("https://a.example"),
        ...schemes({ o: flow("clientCredentials", { tokenUrl: "http://evil.example/token" }) }),
        securityRequirements: demands("o"),
      },
      ...foreignToken("o"),
    ],
    "has a new scheme without TLS on its own host, though its interface has none either": [
      at("http://a.example"),
      {
        ...at("http://a.example"),
        ...schemes({ o: flow("clientCredentials", { tokenUrl: "http://a.example/token" }) }),
      },
      foreignToken("o", "http://a.example/token")[1],
    ],
    "demands a scheme that it does not declare any more": [
      { ...schemes({ b: oidc, c: oidc2 }), securityRequirements: demands("b") },
      { ...schemes({ c: oidc2 }), securityRequirements: demands("b") },
      stillAsked("b"),
    ],
    "has a skill that demands a scheme that is not declared any more": [
      { ...schemes({ b: oidc, c: oidc2 }), skills: [skill("s", "b")] },
      { ...schemes({ c: oidc2 }), skills: [skill("s", "b")] },
      stillAsked("b"),
    ],
    "asks for a token that everybody can use who sees it": [
      schemes({ s: dpop }),
      schemes({ s: bearer }),
      weakerWay("httpAuthSecurityScheme"),
    ],
    "asks for another token that everybody can use who sees it": [
      { ...schemes({ s: dpop }), ...at("https://id.example") },
      { ...schemes({ s: oidc }), ...at("https://id.example") },
      [
        "securitySchemes.s.openIdConnectSecurityScheme",
        'The security scheme "s" no longer binds tokens to their owner.',
      ],
    ],
    "asks for a code that is typed in, where PKCE was demanded": [
      schemes({ s: code({ pkceRequired: true }) }),
      schemes({
        s: flow("deviceCode", {
          deviceAuthorizationUrl: "https://id.example/d",
          tokenUrl: "https://id.example/t",
        }),
      }),
      [
        "securitySchemes.s.oauth2SecurityScheme.flows.deviceCode",
        'The security scheme "s" has tokens by device code, without the PKCE that it demanded.',
      ],
    ],
    // Interfaces that are there, in another way.
    "has lost TLS over one binding of two": [
      binds(["JSONRPC", "https://a.example/rpc"], ["HTTP+JSON", "http://a.example/rest"]),
      binds(["JSONRPC", "http://a.example/rpc"], ["HTTP+JSON", "http://a.example/rest"]),
      withoutTls(0, "http://a.example/rpc"),
    ],
    "has lost the interface that had TLS": [
      binds(["JSONRPC", "https://a.example/rpc"], ["HTTP+JSON", "http://a.example/rest"]),
      binds(["HTTP+JSON", "http://a.example/rest"]),
      firstWithoutTls(0, "http://a.example/rest"),
    ],
    "has its interface without TLS first": [
      binds(["JSONRPC", "https://a.example/rpc"], ["HTTP+JSON", "http://a.example/rest"]),
      binds(["HTTP+JSON", "http://a.example/rest"], ["JSONRPC", "https://a.example/rpc"]),
      firstWithoutTls(0, "http://a.example/rest"),
    ],
    "has the interface without TLS first of those over one binding": [
      binds(["GRPC", "https://a.example"], ["JSONRPC", "https://a.example"], ["JSONRPC", "http://a.example"]),
      binds(["GRPC", "https://a.example"], ["JSONRPC", "http://a.example"], ["JSONRPC", "https://a.example"]),
      firstWithoutTls(1, "http://a.example"),
    ],
    "has a new interface without TLS before the one that has it": [
      binds(["JSONRPC", "https://a.example"]),
      binds(["HTTP+JSON", "http://a.example"], ["JSONRPC", "https://a.example"]),
      withoutTls(0, "http://a.example"),
    ],
    "speaks an older version first": [
      speaks(["JSONRPC", "1.0"]),
      speaks(["JSONRPC", "0.3"], ["JSONRPC", "1.0"]),
      [
        "supportedInterfaces[0].protocolVersion",
        'The interface that comes first is of protocol version "0.3", no longer of "1.0".',
      ],
    ],
    "speaks an older version first over a binding that is new": [
      speaks(["JSONRPC", "1.0"]),
      speaks(["GRPC", "0.3"], ["JSONRPC", "1.0"]),
      [
        "supportedInterfaces[0].protocolVersion",
        'The interface that comes first is of protocol version "0.3", no longer of "1.0".',
      ],
    ],
  } satisfies Record<string, [JsonObject, JsonObject, ...Finding[]]>;
  for (const [what, [before, after, ...findings]] of Object.entries(cases)) {
    it(what, () => {
      expect(findDowngrades(before, after).map(({ text, path }) => [path, text])).toEqual(findings);
      expect(findDowngrades(before, before)).toEqual([]);
      expect(findDowngrades(after, after)).toEqual([]);
    });
  }
});

describe("a card is not weaker when it", () => {
  const cases = {
    "demanded nothing": [asks(), asks("basic")],
    "demanded nothing in one of its alternatives": [asks("oauth", {}), asks("basic", {})],
    "has fewer alternatives": [asks("oauth", "basic"), asks("oauth")],
    "has its alternatives in another order": [asks("oauth", "basic"), asks("basic", "oauth")],
    "demands another scheme as well": [asks("oauth"), asks({ oauth: [], mtls: [] })],
    "demands more scopes": [asks({ oauth: ["a"] }), asks({ oauth: ["b", "a"] })],
    "has an alternative that demands more": [asks("oauth"), asks("oauth", { oauth: ["admin"] })],
    "demands a stronger scheme": [asks("basic"), asks("oauth")],
    "demands a certificate, which has no scopes": [asks({ oauth: ["a"] }), asks("mtls")],
    "replaces two schemes by two that are stronger": [
      asks({ bearer: [], basic: [] }),
      asks({ mtls: [], oauth: [] }),
    ],
    "replaces one scheme of two by a stronger one": [
      asks({ oauth: [], basic: [] }),
      asks({ oauth: [], bearer: [] }),
    ],
    "has the same scheme by another name, and other words for people": [
      { ...schemes({ old: code() }), securityRequirements: demands({ old: ["a"] }) },
      {
        ...schemes({
          new: {
            oauth2SecurityScheme: { ...code().oauth2SecurityScheme, description: "Sign in" },
          },
        }),
        securityRequirements: demands({ new: ["a"] }),
      },
    ],
    "has many requirements, the same as before": [
      asks(...Array.from({ length: 400 }, (_, index) => ({ oauth: [`a${index}`] }))),
      asks(...Array.from({ length: 400 }, (_, index) => ({ oauth: [`a${399 - index}`] }))),
    ],
    "has a new skill for everybody": [asks("oauth"), { ...asks("oauth"), skills: [skill("open", {})] }],
    "has lost a skill": [{ ...asks(), skills: [skill("s", "oauth")] }, asks()],
    "has a skill that repeats what the card demands": [
      { ...asks("oauth"), skills: [skill("s")] },
      { ...asks("oauth"), skills: [skill("s", "oauth")] },
    ],
    "has a skill that no longer repeats what the card demands": [
      { ...asks("oauth"), skills: [skill("s", "oauth")] },
      { ...asks("oauth"), skills: [skill("s")] },
    ],
    "has skills in another order": [
      { ...asks(), skills: [skill("a", "oauth"), skill("b", {})] },
      { ...asks(), skills: [skill("b", {}), skill("a", "oauth")] },
    ],
    "has lost a scheme that is weaker than one that stays": [
      schemes({ oauth: code(), apiKey: apiKey("header") }),
      schemes({ oauth: code() }),
    ],
    "has lost one of two that are as strong": [schemes({ oidc, oauth: code() }), schemes({ oidc })],
    "has a stronger scheme in the place of another": [
      schemes({ a: apiKey("header") }),
      schemes({ b: bearer }),
    ],
    "has a stronger scheme of the same name, on its own host": [
      { ...schemes({ s: apiKey("query") }), ...at("https://id.example/rpc") },
      { ...schemes({ s: oidc }), ...at("https://id.example/rpc") },
    ],
    "has another scheme where it had one": [
      schemes({ a: code({ tokenUrl: "http://id.example/token" }) }),
      schemes({ a: code(), b: flow("clientCredentials", { tokenUrl: "http://id.example/other" }) }),
    ],
    "is asked for a token that is bound to its owner": [schemes({ s: bearer }), schemes({ s: dpop })],
    "has the device code as well, where PKCE was not demanded": [
      schemes({ s: code() }),
      schemes({
        s: flow("deviceCode", {
          deviceAuthorizationUrl: "https://id.example/d",
          tokenUrl: "https://id.example/t",
        }),
      }),
    ],
    "has a scheme more": [schemes({ mtls }), schemes({ mtls, weak: apiKey("query") })],
    "has its API key in a cookie": [schemes({ s: apiKey("header") }), schemes({ s: apiKey("cookie") })],
    "demands PKCE": [schemes({ s: code() }), schemes({ s: code({ pkceRequired: true }) })],
    "has no authorization code any more, and so no PKCE": [
      schemes({ s: code({ pkceRequired: true }) }),
      schemes({ s: flow("clientCredentials", { tokenUrl: "https://id.example/t" }) }),
    ],
    "has its token URL elsewhere on the same host": [
      schemes({ s: code() }),
      schemes({ s: code({ tokenUrl: "https://ID.example.:8443/v2" }) }),
    ],
    "has its token URL by TLS": [
      schemes({ s: code({ tokenUrl: "http://id.example" }) }),
      schemes({ s: code({ tokenUrl: "https://id.example" }) }),
    ],
    "still has its token URL without TLS": [
      schemes({ s: code({ tokenUrl: "http://id.example/a" }) }),
      schemes({ s: code({ tokenUrl: "http://id.example/b" }) }),
    ],
    "has a refresh URL on a host it has named": [
      schemes({ s: code() }),
      schemes({ s: code({ refreshUrl: "https://id.example/r" }) }),
    ],
    "describes its scopes in other words": [
      schemes({ s: code({ scopes: { a: "A" } }) }),
      schemes({ s: code({ scopes: { b: "B" } }) }),
    ],
    "is reached by TLS": [at("http://a.example"), at("https://a.example:8443/x")],
    "is reached without TLS, as before": [at("http://a.example/a"), at("http://a.example:8080/b")],
    "is reached without TLS, as before beside TLS": [
      at("http://a.example", "https://a.example"),
      at("http://a.example"),
    ],
    "is reached without TLS over a binding more, as before": [
      binds(["JSONRPC", "http://a.example"]),
      binds(["JSONRPC", "http://a.example"], ["GRPC", "grpc://a.example:50051"]),
    ],
    "cannot be reached any more": [at("https://a.example"), {}],
    "is reached on this machine": [at("https://localhost"), at("http://localhost:8080")],
    "has fewer interfaces": [at("https://a.example", "https://b.example"), at("https://b.example")],
    "has gRPC as well, on the same host": [
      at("https://a.example"),
      at("https://A.example.", "a.example:50051", "dns:a.example:443", "grpcs://a.example:1"),
    ],
    "speaks a newer version": [speaks(["JSONRPC", "1.9"]), speaks(["JSONRPC", "1.10"])],
    "speaks an older version as well": [
      speaks(["JSONRPC", "1.0"]),
      speaks(["JSONRPC", "1.0"], ["JSONRPC", "0.3"]),
    ],
    "speaks an older version over a binding that is new": [
      speaks(["JSONRPC", "1.0"]),
      speaks(["JSONRPC", "1.0"], ["GRPC", "0.3"]),
    ],
    "can do other things": [
      { capabilities: { extendedAgentCard: true, pushNotifications: true, streaming: true } },
      { capabilities: {} },
    ],
  } satisfies Record<string, [JsonObject, JsonObject]>;
  for (const [what, [before, after]] of Object.entries(cases)) {
    it(what, () => expect(findDowngrades(before, after)).toEqual([]));
  }
});

describe("findDowngrades", () => {
  const names = fc.constantFrom("a", "b", "__proto__", "constructor", "mtls");
  const scheme = fc.constantFrom<JsonObject>(
    mtls,
    oidc,
    bearer,
    basic,
    apiKey("query"),
    code(),
    {},
    { ...mtls, ...basic },
  );
  const requirement = fc
    .dictionary(names, fc.uniqueArray(fc.constantFrom("x", "y", "z"), { maxLength: 3 }), { maxKeys: 3 })
    .map((scopes) => ({
      schemes: Object.fromEntries(Object.entries(scopes).map(([name, list]) => [name, { list }])),
    }));
  const requirements = fc.array(requirement, { maxLength: 4 });
  const url = fc.constantFrom("https://a", "http://b", "a:50051", "grpc://c", "", "?");
  const card: fc.Arbitrary<JsonObject> = fc.record({
    supportedInterfaces: fc.array(
      fc.record({ url, protocolBinding: names, protocolVersion: fc.constantFrom("1.0", "0.3", "x") }),
      { maxLength: 3 },
    ),
    securitySchemes: fc.dictionary(names, scheme),
    securityRequirements: requirements,
    skills: fc.array(fc.record({ id: names, securityRequirements: requirements }), { maxLength: 3 }),
  });

  it("finds nothing in a card that has not changed, whatever the order of its members", () => {
    fc.assert(
      fc.property(card, (same) => {
        expect(findDowngrades(same, same)).toEqual([]);
        expect(findDowngrades(same, reversed(same))).toEqual([]);
      }),
    );
  });

  it("finds a weaker requirement exactly when somebody gets in with less", () => {
    // Only schemes of one strength, none of which can stand for another: then who gets in can be counted.
    const alike = {
      a: code({ tokenUrl: "https://1" }),
      b: code({ tokenUrl: "https://2" }),
      c: code({ tokenUrl: "https://3" }),
    };
    const alternatives = fc.array(fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 3 }), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(alternatives, alternatives, (before, after) => {
        const declare = (demanded: string[][]): JsonObject => ({
          securitySchemes: alike,
          securityRequirements: demands(
            ...demanded.map((set) => Object.fromEntries(set.map((name): [string, string[]] => [name, []]))),
          ),
        });
        const isMet = (demanded: string[][], has: readonly string[]) =>
          demanded.length === 0 || demanded.some((set) => set.every((name) => has.includes(name)));
        const callers = Array.from({ length: 8 }, (_, bits) =>
          ["a", "b", "c"].filter((__, bit) => bits & (1 << bit)),
        );
        const someoneGetsIn = callers.some((has) => isMet(after, has) && !isMet(before, has));
        expect(findDowngrades(declare(before), declare(after)).length > 0).toBe(someoneGetsIn);
      }),
      { numRuns: 2_000 },
    );
  });

  it("takes whatever JSON there is", () => {
    const anything = fc.jsonValue() as fc.Arbitrary<JsonValue>; // fast-check has its own type for the same
    const mangled = fc.record({
      supportedInterfaces: fc.oneof(anything, fc.array(anything)),
      securitySchemes: fc.oneof(anything, fc.dictionary(names, fc.oneof(anything, scheme))),
      securityRequirements: fc.oneof(
        anything,
        fc.array(fc.oneof(anything, fc.record({ schemes: anything }))),
      ),
      skills: fc.array(fc.oneof(anything, fc.record({ id: anything, securityRequirements: anything }))),
    });
    fc.assert(
      fc.property(fc.oneof(card, mangled), fc.oneof(card, mangled), (before, after) => {
        for (const { text, path } of findDowngrades(before, after)) {
          expect(text).toMatch(/^[A-Z].*\.$/);
          expect(path).not.toBe("");
        }
        expect(findDowngrades(after, after)).toEqual([]);
      }),
    );
  });
});

/** The same JSON, with the members of all objects in the opposite order. */
function reversed<Json extends JsonValue>(json: Json): Json {
  if (typeof json !== "object" || json === null) return json;
  const copy = Array.isArray(json)
    ? json.map(reversed)
    : Object.fromEntries(
        Object.entries(json)
          .reverse()
          .map(([name, value]) => [name, reversed(value)]),
      );
  return copy as Json; // the same shape
}
