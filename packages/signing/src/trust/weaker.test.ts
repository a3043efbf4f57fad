import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findDowngrades as compareOutlines } from "./compare-cards.ts";
import { readOutline } from "./outline.ts";

const findDowngrades = (before: JsonObject, after: JsonObject, extended?: boolean) =>
  compareOutlines(readOutline(before), readOutline(after), extended);

/** A requirement that counts how often it is compared: its names are listed each time. */
class CountedRequirement extends Map<string, ReadonlySet<string>> {
  compared = 0;

  override keys(): MapIterator<string> {
    this.compared += 1;
    return super.keys();
  }
}

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

/** Paths of findings. */
const elsewhere = (name: string, below: string): string =>
  `securitySchemes.${name}.${below.includes("Scheme.") ? below : `oauth2SecurityScheme.flows.${below}`}`;
const scheme = (name: string): string => `securitySchemes.${name}`;
const letIn = (index: number): string => `securityRequirements[${index}]`;
const address = (index: number): string => `supportedInterfaces[${index}].url`;
const version = (index: number): string => `supportedInterfaces[${index}].protocolVersion`;
/** On another host, and without TLS. */
const foreignToken = (name: string): [string, string] => {
  const path = elsewhere(name, "clientCredentials.tokenUrl");
  return [path, path];
};

describe("a weaker card", () => {
  const cases = {
    // Requirements: alternatives of schemes that are needed together (L-9).
    "demands nothing any more": [
      asks("oauth"),
      { securitySchemes: asks()["securitySchemes"] ?? {} },
      "securityRequirements",
    ],
    "has lost its list of requirements to what is none": [
      asks("oauth"),
      { ...asks(), securityRequirements: "oauth" },
      "securityRequirements",
    ],
    "has an empty alternative": [asks("oauth"), asks("oauth", {}), "securityRequirements[1]"],
    "has an alternative that its reader takes for empty": [
      asks("oauth"),
      { ...asks(), securityRequirements: [{ oauth: ["admin"] }] },
      "securityRequirements[0]",
    ],
    "has an alternative that is met with less": [asks("oauth"), asks("oauth", "bearer"), letIn(1)],
    "has an alternative with a scheme as strong, which is another one": [
      asks("oauth"),
      asks("oauth", "oauth2"),
      letIn(1),
    ],
    "demands one scheme of two": [asks({ oauth: [], mtls: [] }), asks("oauth"), letIn(0)],
    "demands the stronger scheme of two, since one cannot stand for both": [
      asks({ mtls: [], basic: [] }),
      asks("mtls"),
      letIn(0),
    ],
    "demands one new strong scheme in the place of two": [
      asks({ bearer: [], basic: [] }),
      asks("mtls"),
      letIn(0),
    ],
    "demands fewer scopes": [asks({ oauth: ["read", "write"] }), asks({ oauth: ["read"] }), letIn(0)],
    "demands another scope": [asks({ oauth: ["a", "b"] }), asks({ oauth: ["c"] }), letIn(0)],
    "replaces a scheme with scopes by a stronger one without them": [
      { ...asks({ basic: ["admin"] }) },
      asks("oauth"),
      letIn(0),
    ],
    "is compared with the most similar of the old alternatives": [
      asks({ mtls: [], bearer: [], basic: [] }, { oauth: ["a"] }),
      asks({ oauth: ["b"] }),
      letIn(0),
    ],
    // Skills stand in the place of the card's.
    "has a skill that demands less": [
      { ...asks("bearer"), skills: [skill("a"), skill("s", { oauth: ["x"] })] },
      { ...asks("bearer"), skills: [skill("s", { oauth: [] })] },
      "skills[0].securityRequirements[0]",
    ],
    "has a skill that demands less than the card did for it": [
      { ...asks("oauth"), skills: [skill("s")] },
      { ...asks("oauth"), skills: [skill("s", {})] },
      "skills[0].securityRequirements[0]",
    ],
    "has a skill that demands no more than the card does now": [
      { ...asks("bearer"), skills: [skill("s", { oauth: ["x"] })] },
      { ...asks("bearer"), skills: [skill("s")] },
      "skills[0].securityRequirements[0]",
    ],
    "hides a weaker skill behind one of the same id": [
      { ...asks("oauth"), skills: [skill("s", "oauth")] },
      { ...asks("oauth"), skills: [skill("s", "oauth"), skill("s", {})] },
      "skills[1].securityRequirements[0]",
    ],
    // Schemes.
    "has lost its only scheme": [schemes({ oauth: code() }), {}, scheme("oauth")],
    "has lost its strongest scheme": [
      schemes({ mtls, oauth: code() }),
      schemes({ oauth: code() }),
      scheme("mtls"),
    ],
    "has another authorization server by another name": [
      schemes({ "a b": code() }),
      schemes({ new: code({ tokenUrl: "https://evil.example/token" }) }),
      'securitySchemes["a b"]',
      elsewhere("new", "authorizationCode.tokenUrl"),
    ],
    "asks for an API key in the place of a token": [
      schemes({ s: code() }),
      schemes({ s: apiKey("header") }),
      scheme("s"),
    ],
    "asks for a token in the place of a certificate": [
      schemes({ s: mtls }),
      schemes({ s: oidc }),
      scheme("s"),
      elsewhere("s", "openIdConnectSecurityScheme.openIdConnectUrl"),
    ],
    "asks for what nobody knows": [
      schemes({ s: bearer }),
      schemes({ s: { futureSecurityScheme: {} } }),
      scheme("s"),
    ],
    "asks for one of two things at once": [
      schemes({ s: bearer }),
      schemes({ s: { ...bearer, ...mtls } }),
      scheme("s"),
    ],
    "asks for passwords in the place of bearer tokens": [
      schemes({ s: bearer }),
      schemes({ s: basic }),
      scheme("s"),
    ],
    "has its API key in the query": [
      schemes({ s: apiKey("header") }),
      schemes({ s: apiKey("query") }),
      scheme("s"),
    ],
    "has gone back to the implicit flow": [
      schemes({ s: code() }),
      schemes({ s: flow("implicit", { authorizationUrl: "https://id.example/authorize" }) }),
      scheme("s"),
    ],
    "does not say how its tokens are to be had": [
      schemes({ s: code() }),
      schemes({ s: { oauth2SecurityScheme: {} } }),
      scheme("s"),
    ],
    "no longer demands PKCE": [
      schemes({ s: code({ pkceRequired: true }) }),
      schemes({ s: code() }),
      scheme("s"),
    ],
    "has its token URL on another host": [
      schemes({ s: code() }),
      schemes({ s: code({ tokenUrl: "https://evil.example/token" }) }),
      elsewhere("s", "authorizationCode.tokenUrl"),
    ],
    "has its token URL on a host that only looks like the old one": [
      schemes({ s: code() }),
      schemes({ s: code({ tokenUrl: "https://id.example@evil.example/token" }) }),
      elsewhere("s", "authorizationCode.tokenUrl"),
    ],
    "has its token URL where its authorization URL was": [
      schemes({ s: code({ authorizationUrl: "https://login.example" }) }),
      schemes({ s: code({ authorizationUrl: "https://login.example", tokenUrl: "https://login.example" }) }),
      elsewhere("s", "authorizationCode.tokenUrl"),
    ],
    "has a refresh URL on a host that was not named": [
      schemes({ s: code() }),
      schemes({ s: code({ refreshUrl: "https://evil.example" }) }),
      elsewhere("s", "authorizationCode.refreshUrl"),
    ],
    "has its authorization URL without TLS": [
      schemes({ s: code() }),
      schemes({ s: code({ authorizationUrl: "http://id.example/authorize" }) }),
      "securitySchemes.s.oauth2SecurityScheme.flows.authorizationCode.authorizationUrl",
    ],
    "has its discovery document on another host": [
      schemes({ s: oidc }),
      schemes({ s: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://id2.example" } } }),
      elsewhere("s", "openIdConnectSecurityScheme.openIdConnectUrl"),
    ],
    "has its metadata on another host": [
      schemes({ s: { oauth2SecurityScheme: { oauth2MetadataUrl: "https://a.example" } } }),
      schemes({ s: { oauth2SecurityScheme: { oauth2MetadataUrl: "https://b.example" } } }),
      elsewhere("s", "oauth2SecurityScheme.oauth2MetadataUrl"),
    ],
    "keeps the device code and moves where the codes come from": [
      schemes({
        s: flow("deviceCode", { deviceAuthorizationUrl: "https://a.example", tokenUrl: "https://a.example" }),
      }),
      schemes({
        s: flow("deviceCode", { deviceAuthorizationUrl: "https://b.example", tokenUrl: "https://a.example" }),
      }),
      elsewhere("s", "deviceCode.deviceAuthorizationUrl"),
    ],
    // Interfaces.
    "is reached without TLS": [at("https://a.example/rpc"), at("http://a.example/rpc"), address(0)],
    "can also be reached without TLS": [
      at("https://a.example"),
      at("https://a.example", "http://a.example:8080"),
      address(1),
    ],
    "is reached by gRPC in cleartext": [at("grpcs://a.example:443"), at("a.example:80"), address(0)],
    "has moved to another host": [at("https://a.example/rpc"), at("https://b.example/rpc"), address(0)],
    "has moved to a subdomain": [at("https://a.example/rpc"), at("https://x.a.example/rpc"), address(0)],
    "has an interface on another host as well": [
      at("https://a.example"),
      at("https://a.example", "evil.example:443"),
      address(1),
    ],
    "has a gRPC target that names another host behind a resolver": [
      at("https://a.example"),
      at("dns://a.example/evil.example:443"),
      address(0),
    ],
    "has another host behind a user name, and an address that only parsers of URLs understand": [
      at("https://a.example"),
      at("https://a.example@evil.example", "https:\\\\evil.example", "ht\ntps:evil.example"),
      address(0),
      address(1),
      address(2),
    ],
    "has an address that is none": [
      at("https://a.example"),
      at("https://a.example", "\u001b[31m"),
      address(1),
    ],
    "speaks an older version": [
      speaks(["JSONRPC", "1.0"], ["GRPC", "1.0"]),
      speaks(["JSONRPC", "0.3"], ["GRPC", "1.0"]),
      version(0),
    ],
    "speaks an older version over another binding": [
      speaks(["JSONRPC", "1.10"]),
      speaks(["GRPC", "1.9"]),
      version(0),
    ],
    "speaks a version that is none": [speaks(["JSONRPC", "1.0"]), speaks(["JSONRPC", "latest"]), version(0)],
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
      foreignToken("o")[1],
    ],
    "demands a scheme that it does not declare any more": [
      { ...schemes({ b: oidc, c: oidc2 }), securityRequirements: demands("b") },
      { ...schemes({ c: oidc2 }), securityRequirements: demands("b") },
      scheme("b"),
    ],
    "has a skill that demands a scheme that is not declared any more": [
      { ...schemes({ b: oidc, c: oidc2 }), skills: [skill("s", "b")] },
      { ...schemes({ c: oidc2 }), skills: [skill("s", "b")] },
      scheme("b"),
    ],
    "asks for a token that everybody can use who sees it": [
      schemes({ s: dpop }),
      schemes({ s: bearer }),
      scheme("s"),
    ],
    "asks for another token that everybody can use who sees it": [
      { ...schemes({ s: dpop }), ...at("https://id.example") },
      { ...schemes({ s: oidc }), ...at("https://id.example") },
      scheme("s"),
    ],
    "asks for a code that is typed in, where PKCE was demanded": [
      schemes({ s: code({ pkceRequired: true }) }),
      schemes({
        s: flow("deviceCode", {
          deviceAuthorizationUrl: "https://id.example/d",
          tokenUrl: "https://id.example/t",
        }),
      }),
      scheme("s"),
    ],
    // Interfaces that are there, in another way.
    "has lost TLS over one binding of two": [
      binds(["JSONRPC", "https://a.example/rpc"], ["HTTP+JSON", "http://a.example/rest"]),
      binds(["JSONRPC", "http://a.example/rpc"], ["HTTP+JSON", "http://a.example/rest"]),
      address(0),
    ],
    "has lost the interface that had TLS": [
      binds(["JSONRPC", "https://a.example/rpc"], ["HTTP+JSON", "http://a.example/rest"]),
      binds(["HTTP+JSON", "http://a.example/rest"]),
      address(0),
    ],
    "has its interface without TLS first": [
      binds(["JSONRPC", "https://a.example/rpc"], ["HTTP+JSON", "http://a.example/rest"]),
      binds(["HTTP+JSON", "http://a.example/rest"], ["JSONRPC", "https://a.example/rpc"]),
      address(0),
    ],
    "has the interface without TLS first of those over one binding": [
      binds(["GRPC", "https://a.example"], ["JSONRPC", "https://a.example"], ["JSONRPC", "http://a.example"]),
      binds(["GRPC", "https://a.example"], ["JSONRPC", "http://a.example"], ["JSONRPC", "https://a.example"]),
      address(1),
    ],
    "has a new interface without TLS before the one that has it": [
      binds(["JSONRPC", "https://a.example"]),
      binds(["HTTP+JSON", "http://a.example"], ["JSONRPC", "https://a.example"]),
      address(0),
    ],
    "speaks an older version first": [
      speaks(["JSONRPC", "1.0"]),
      speaks(["JSONRPC", "0.3"], ["JSONRPC", "1.0"]),
      version(0),
    ],
    "speaks an older version first over a binding that is new": [
      speaks(["JSONRPC", "1.0"]),
      speaks(["GRPC", "0.3"], ["JSONRPC", "1.0"]),
      version(0),
    ],
  } satisfies Record<string, [JsonObject, JsonObject, ...string[]]>;
  for (const [what, [before, after, ...paths]] of Object.entries(cases)) {
    it(what, () => {
      expect(findDowngrades(before, after).flatMap((each) => each.paths)).toEqual(paths);
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

describe("an extended card is weaker than the public one when it", () => {
  const tokensAt = (tokenUrl: string) => flow("clientCredentials", { tokenUrl });
  const publicCard: JsonObject = {
    ...at("https://a.example/rpc"),
    ...schemes({ o: tokensAt("https://id.example/token"), m: mtls }),
    securityRequirements: demands("o"),
    skills: [{ id: "s" }],
  };
  for (const [what, members, ...paths] of [
    ["is reached without TLS", at("http://a.example/rpc"), address(0)],
    ["is reached on another host", at("https://a.example/rpc", "https://evil.example"), address(1)],
    [
      "has its tokens on another host",
      schemes({ o: tokensAt("https://evil.example/token") }),
      elsewhere("o", "clientCredentials.tokenUrl"),
    ],
    [
      "has other tokens without TLS",
      schemes({ more: tokensAt("http://id.example/token") }),
      elsewhere("more", "clientCredentials.tokenUrl"),
    ],
    ["has a weaker scheme of the same name", schemes({ m: basic }), scheme("m")],
  ] satisfies [string, JsonObject, ...string[]][]) {
    it(what, () => {
      const found = findDowngrades(publicCard, { ...publicCard, ...members }, true);
      expect(found.flatMap((each) => each.paths)).toEqual(paths);
    });
  }

  it("may say less of what is demanded, and have other skills and schemes", () => {
    const extended: JsonObject = {
      ...at("https://a.example/rpc"),
      ...schemes({ own: tokensAt("https://a.example/token") }),
      securityRequirements: [{}],
      skills: [{ id: "s", securityRequirements: [{}] }, { id: "t" }],
    };
    expect(findDowngrades(publicCard, extended, true)).toEqual([]);
  });
});

describe("a card that declares too much to be compared", () => {
  const names = Array.from({ length: 501 }, (_, index) => `n${index}`);
  const few = asks("oauth");
  for (const [what, members] of [
    ["interfaces", at(...names, ...names)],
    [
      "schemes",
      schemes(Object.fromEntries([...names, ...names.map((name) => `${name}b`)].map((name) => [name, mtls]))),
    ],
    ["addresses of schemes", schemes(Object.fromEntries(names.map((name) => [name, oidc])))],
    ["requirements", { securityRequirements: demands(...names, ...names) }],
    [
      "schemes in a requirement",
      {
        securityRequirements: demands(
          Object.fromEntries([...names, ...names.map((name) => `${name}b`)].map((name) => [name, []])),
        ),
      },
    ],
    ["scopes", { securityRequirements: demands({ oauth: [...names, ...names] }, { oauth: names }) }],
    ["skills", { skills: [...names, ...names].map((id) => skill(id)) }],
    ["requirements of skills", { skills: names.map((id) => skill(id, "oauth")) }],
  ] satisfies [string, JsonObject][]) {
    it(`is taken for a weaker one, with one finding: ${what}`, () => {
      const finding = {
        text: "The card differs from the last one, and one of the two declares too much to be compared.",
        paths: [],
      };
      const many = { ...few, ...members };
      expect(findDowngrades(few, many)).toEqual([finding]);
      expect(findDowngrades(many, few)).toEqual([finding]);
      expect(findDowngrades(few, many, true)).toEqual([finding]);
    });
  }
});

describe("a finding says what is weaker", () => {
  for (const [before, after, text] of [
    [asks("oauth"), asks(), "The agent no longer asks for credentials."],
    [asks("oauth"), asks({}), "Callers are let in without credentials."],
    [asks("oauth"), asks("bearer"), 'Callers are let in with less than before: "bearer".'],
    [
      { ...asks(), skills: [skill("s", "oauth")] },
      { ...asks(), skills: [skill("s", {})] },
      'For the skill "s": Callers are let in without credentials.',
    ],
    [
      { ...asks(), skills: [skill("s", "oauth")] },
      { ...asks(), skills: [skill("s", "oauth"), skill("s")] },
      'For the skill "s": The agent no longer asks for credentials.',
    ],
    [
      schemes({ oauth: code() }),
      {},
      'The security scheme "oauth" is gone, and no other scheme makes up for it.',
    ],
    [schemes({ s: bearer }), schemes({ s: basic }), 'The security scheme "s" is of a weaker kind.'],
    [
      schemes({ s: code({ pkceRequired: true }) }),
      schemes({ s: code() }),
      'The security scheme "s" no longer demands PKCE.',
    ],
    [
      { ...schemes({ s: dpop }), ...at("https://id.example") },
      { ...schemes({ s: oidc }), ...at("https://id.example") },
      'The security scheme "s" is of a weaker kind.',
    ],
    [at("https://a.example"), at("https://b.example"), 'An interface is on another host, "b.example".'],
    [
      at("https://a.example"),
      at("http://a.example"),
      'An interface is reached without TLS, at "http://a.example".',
    ],
    [
      schemes({ s: oidc }),
      schemes({ s: oidc2 }),
      'The openIdConnectUrl of the security scheme "s" is on another host, "id2.example".',
    ],
    [
      speaks(["JSONRPC", "1.0"]),
      speaks(["JSONRPC", "0.3"]),
      'An interface has a lower protocol version, "0.3".',
    ],
  ] satisfies [JsonObject, JsonObject, string][]) {
    it(text, () => expect(findDowngrades(before, after).map((found) => found.text)).toEqual([text]));
  }
});

describe("findDowngrades", () => {
  const names = fc.constantFrom("a", "b", "__proto__", "constructor", "mtls");
  const anyScheme = fc.constantFrom<JsonObject>(
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
    securitySchemes: fc.dictionary(names, anyScheme),
    securityRequirements: requirements,
    skills: fc.array(fc.record({ id: names, securityRequirements: requirements }), { maxLength: 3 }),
  });

  it("finds nothing in a card that has not changed", () => {
    fc.assert(
      fc.property(card, (same) => {
        expect(findDowngrades(same, same)).toEqual([]);
      }),
    );
  });

  it("compares each alternative with each once, however often a card repeats a skill", () => {
    const repeat = <T>(make: (at: number) => T): T[] => Array.from({ length: 20 }, (_, at) => make(at));
    const strict = repeat((at) => ({ bearer: [], [`x${at}`]: [] }));
    const comparisons = (was: JsonObject, is: JsonObject): number => {
      const after = readOutline(is);
      const requirements = after.requirements.map((each) => new CountedRequirement(each));
      compareOutlines(readOutline(was), { ...after, requirements });
      return requirements.reduce((sum, { compared }) => sum + compared, 0);
    };
    const repeated = { ...asks(...repeat(() => "bearer")), skills: repeat(() => skill("a")) };
    const once = { ...asks("bearer"), skills: [skill("a", ...strict, "bearer")] };
    expect(comparisons(once, repeated)).toBeLessThan(30 * 20);
    const inherited = { ...asks(...strict), skills: [...repeat(() => skill("a")), skill("a", "mtls")] };
    expect(comparisons(inherited, { ...asks("basic"), skills: [skill("a")] })).toBeLessThan(3 * 20);
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
      securitySchemes: fc.oneof(anything, fc.dictionary(names, fc.oneof(anything, anyScheme))),
      securityRequirements: fc.oneof(
        anything,
        fc.array(fc.oneof(anything, fc.record({ schemes: anything }))),
      ),
      skills: fc.array(fc.oneof(anything, fc.record({ id: anything, securityRequirements: anything }))),
    });
    fc.assert(
      fc.property(fc.oneof(card, mangled), fc.oneof(card, mangled), (before, after) => {
        for (const { text, paths } of findDowngrades(before, after)) {
          expect(text).toMatch(/^[A-Z].*\.$/);
          expect(paths).toHaveLength(1);
        }
        expect(findDowngrades(after, after)).toEqual([]);
      }),
    );
  });
});
