import { formatMessage } from "@a2a-connect/core/internal";
import { AgentCardSchema } from "@a2a-connect/proto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { agentCard, cardJson, cardJson02, cardJson03 } from "../../test-support/cards.ts";
import { rejectedWith } from "../../test-support/outcomes.ts";
import { CardInvalidError } from "../errors.ts";
import { inputRequiredCapability } from "./lifecycle-params.ts";
import { readOlderCard } from "./older-card.ts";
import { readCard } from "./read-card.ts";

async function read(json: JsonValue) {
  const { card, warnings } = await readCard(JSON.stringify(json));
  return { card: formatMessage(AgentCardSchema, card) as JsonObject, warnings }; // a card is an object
}

async function problemsOf(text: string): Promise<readonly string[]> {
  try {
    await readCard(text);
  } catch (error) {
    if (error instanceof CardInvalidError) return error.problems;
    throw error;
  }
  throw new Error("the card was read");
}

describe("a card of 1.0", () => {
  it("is read without a warning", async () => {
    expect(await readCard(JSON.stringify(cardJson))).toEqual({ card: agentCard(), warnings: [] });
  });

  it("may have members that nobody knows, among them dangerous ones, and names in snake_case", async () => {
    const { supportedInterfaces, ...rest } = cardJson;
    const text = JSON.stringify({
      ...rest,
      supported_interfaces: supportedInterfaces,
      "x-vendor": [{ y: 1 }],
    });
    const odd = text
      .replace("{", '{"__proto__":{"polluted":true},')
      .replace('"y":1', '"__proto__":{"polluted":1}');
    for (const spelling of ["__proto__", "\\u005F\\u005fproto__", "__\\u0070roto__"]) {
      const each = odd.replaceAll("__proto__", spelling);
      expect(await readCard(each)).toEqual({ card: agentCard(), warnings: [] });
    }
    expect({}).not.toHaveProperty("polluted");
  });

  it("may have tens of thousands of values: no function is called for each", async () => {
    const parse = vi.spyOn(JSON, "parse");
    onTestFinished(() => parse.mockRestore());
    const text = JSON.stringify({ ...cardJson, "x-vendor": Array.from({ length: 90_000 }, () => 0) });
    expect(await readCard(text)).toEqual({ card: agentCard(), warnings: [] });
    expect(parse.mock.calls).toEqual([[text]]);
  });

  describe("that also has the members of 0.3", () => {
    const { url, preferredTransport, additionalInterfaces, protocolVersion } = cardJson03;
    const older = { url, preferredTransport, additionalInterfaces, protocolVersion } as JsonObject; // all are there
    const [own] = agentCard().supportedInterfaces;
    const offers = async (json: JsonObject) => {
      const { card, warnings } = await readCard(JSON.stringify(json));
      expect({ ...card, supportedInterfaces: [own] }).toEqual(agentCard());
      expect(warnings).toEqual([]);
      return card.supportedInterfaces.map((each) => `${each.protocolBinding} ${each.protocolVersion}`);
    };
    const both = ["JSONRPC 1.0", "JSONRPC 0.3", "GRPC 0.3", "HTTP+JSON 0.3"];

    it("has the interfaces of both, those of 1.0 first", async () => {
      expect(await offers({ ...older, ...cardJson })).toEqual(both);
    });

    it("names each interface once", async () => {
      const listed = { url: url ?? "", protocolBinding: "JSONRPC", protocolVersion: "0.3" };
      const supportedInterfaces = [...(cardJson["supportedInterfaces"] as JsonObject[]), listed]; // as above
      expect(await offers({ ...older, ...cardJson, supportedInterfaces })).toEqual(both);
    });

    for (const [title, members] of [
      ["no version, or one that is none", { protocolVersion: null }],
      ["the version 1.0", { protocolVersion: "1.0" }],
      ["no address", { url: 5 }],
      ["interfaces that are none", { url: "", additionalInterfaces: [5, { transport: "GRPC" }] }],
    ] satisfies [string, JsonObject][]) {
      it(`is read by its interfaces of 1.0 when they are wrong: ${title}`, async () => {
        expect(await offers({ ...older, ...members, ...cardJson })).toEqual(["JSONRPC 1.0"]);
      });
    }

    it("has the preferred interface of 0.3 also when the list of the others is none", async () => {
      expect(await offers({ ...older, additionalInterfaces: {}, ...cardJson })).toEqual(both.slice(0, 2));
    });

    it("is read by its interfaces of 1.0 when it is signed: the signature does not cover the others", async () => {
      const signatures = [{ protected: "eyJhbGciOiJFUzI1NiJ9", signature: "c2lnbmF0dXJl" }];
      const { card } = await readCard(JSON.stringify({ ...older, ...cardJson, signatures }));
      expect(card.supportedInterfaces).toEqual([own]);
    });
  });

  describe("that says who may call in members of older versions only", () => {
    const bearer = { bearer: { httpAuthSecurityScheme: { scheme: "bearer" } } };
    const typed = { bearer: { type: "http", scheme: "bearer" } };
    const demanded = [{ schemes: { bearer: {} } }];
    const signatures = [{ protected: "eyJhbGciOiJFUzI1NiJ9", signature: "c2lnbmF0dXJl" }];
    const asked = async (members: JsonObject) => {
      const { card, warnings } = await read({ ...cardJson, ...members });
      const { securitySchemes, securityRequirements } = card;
      return { securitySchemes, securityRequirements, warned: warnings.length > 0 };
    };

    for (const [title, members, securitySchemes] of [
      ["a requirement of 0.3", { securitySchemes: bearer, security: [{ bearer: [] }] }, bearer],
      ["one beside an empty list", { security: [{ bearer: [] }], securityRequirements: [] }, undefined],
      ["one whose scheme is of 0.3 as well", { securitySchemes: typed, security: [{ bearer: [] }] }, bearer],
      ["a scheme of 0.3 alone", { securitySchemes: typed, securityRequirements: demanded }, bearer],
      [
        "one with a scheme in both forms",
        {
          securitySchemes: { bearer: { ...typed.bearer, ...bearer.bearer } },
          security: [{ bearer: [] }],
        },
        bearer,
      ],
      ["the authentication of the first cards", { authentication: { schemes: ["bearer"] } }, bearer],
      [
        "the same beside an empty list of 0.3",
        { authentication: { schemes: ["bearer"] }, security: [] },
        bearer,
      ],
    ] satisfies [string, JsonObject, JsonObject | undefined][]) {
      it(`does not look open: ${title}`, async () => {
        expect(await asked(members)).toEqual({
          ...(securitySchemes === undefined ? {} : { securitySchemes }),
          securityRequirements: demanded,
          warned: true,
        });
      });
    }

    it("does not look open when it is signed, but takes no scheme that the signature does not cover", async () => {
      const securitySchemes = { bearer: {} };
      for (const members of [
        { securitySchemes: typed, security: [{ bearer: [] }] },
        { securitySchemes: typed, authentication: { schemes: ["bearer"] } },
      ]) {
        expect(await asked({ ...members, signatures })).toEqual({
          securitySchemes,
          securityRequirements: demanded,
          warned: true,
        });
      }
    });

    it("does not look open in a skill", async () => {
      const [skill] = cardJson["skills"] as JsonObject[]; // as above
      const { card, warnings } = await read({
        ...cardJson,
        skills: [{ ...skill, security: [{ bearer: [] }] }],
      });
      expect(card["skills"]).toMatchObject([{ securityRequirements: demanded }]);
      expect(warnings).toHaveLength(1);
    });

    it("is refused when they cannot be read, in their own words", async () => {
      expect(await problemsOf(JSON.stringify({ ...cardJson, security: 5 }))).toEqual([
        "security: must be an array",
      ]);
    });

    it("does not look open when an agent of 0.3 gives it as the answer to a call", () => {
      expect(
        readOlderCard({ ...cardJson, securitySchemes: typed, security: [{ bearer: [] }] }),
      ).toMatchObject({
        securitySchemes: bearer,
        securityRequirements: [{ schemes: { bearer: { list: [] } } }],
      });
      expect(readOlderCard(cardJson)).toEqual(cardJson);
    });

    it("asks for what 1.0 says when both are there", async () => {
      const members = { securitySchemes: bearer, securityRequirements: demanded, security: [{ other: [] }] };
      expect(await asked(members)).toEqual({
        securitySchemes: bearer,
        securityRequirements: demanded,
        warned: false,
      });
    });
  });

  it("that tells modes as kinds of parts is read with a warning (Q-2)", async () => {
    const { card, warnings } = await read({ ...cardJson, defaultInputModes: ["text", "TEXT", "image/png"] });
    expect(card["defaultInputModes"]).toEqual(["text/plain", "image/png"]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/text/);
  });

  it("names every REQUIRED field that is missing, by its path", async () => {
    const problems = await problemsOf(
      JSON.stringify({
        supportedInterfaces: [{ url: "https://clerk.example", protocolBinding: "", protocolVersion: "1.0" }],
        skills: [{ name: "File", tags: [] }],
        provider: { organization: "x" },
      }),
    );
    expect([...problems].sort()).toEqual([
      "capabilities: is required",
      "defaultInputModes: is required",
      "defaultOutputModes: is required",
      "description: is required",
      "name: is required",
      "provider.url: is required",
      "skills[0].description: is required",
      "skills[0].id: is required",
      "supportedInterfaces[0].protocolBinding: is required",
      "version: is required",
    ]);
  });

  for (const [what, json, problem] of [
    ["a field of a wrong type", { ...cardJson, version: 1 }, "version: must be a string"],
    [
      "no interface",
      { ...cardJson, supportedInterfaces: [] },
      "supportedInterfaces: needs at least one element",
    ],
    ["no list of interfaces", { name: "x" }, "supportedInterfaces: is required"],
    ["null for a list", { ...cardJson, skills: null }, "skills: is required"],
    ["an element that is none", { ...cardJson, skills: [null] }, "skills[0]: must not be null"],
    [
      "two of a kind of security",
      { ...cardJson, securitySchemes: { a: { apiKeySecurityScheme: {}, mtlsSecurityScheme: {} } } },
      "securitySchemes.a: apiKeySecurityScheme and mtlsSecurityScheme exclude each other",
    ],
  ] as const) {
    it(`with ${what} is refused`, async () => {
      expect(await problemsOf(JSON.stringify(json))).toContain(problem);
    });
  }
});

describe("a text that is no card", () => {
  for (const [text, says] of [
    ["", /empty/],
    ["  \n", /empty/],
    ["{", /not valid JSON/],
    ["<!doctype html>", /web page/],
    ["[]", /object.*array/],
    ["null", /object.*null/],
    ['"card"', /object.*string/],
    ['{"name":"a","name":"b"}', /"name" twice/],
    ['{"name":"a","\\u006eame":"b"}', /"name" twice/],
    [`{"skills":[{"id":"a","id":"b"}]}`, /"id" twice/],
    [`${'{"x":'.repeat(300)}1${"}".repeat(300)}`, /nested deeper/],
    [`${"[".repeat(400_000)}${"]".repeat(400_000)}`, /100000 values/],
    [`${'{"a":'.repeat(30_000)}1${"}".repeat(30_000)}`, /nested/],
    [JSON.stringify({ name: Array(40_000).fill([]) }), /100000 values/],
  ] as const) {
    it(`is refused in a sentence: ${text.slice(0, 40)}`, async () => {
      const thrown = await rejectedWith(readCard(text, "The file"), CardInvalidError);
      expect(thrown.message).toMatch(says);
      expect(thrown.message).toMatch(/^The file .{5,}\.$/);
    });
  }
});

describe("a card of 0.3 (Q-2)", async () => {
  const { card, warnings } = await read(cardJson03);

  it("has its addresses as interfaces of that version, the preferred one first and once", () => {
    expect(card["supportedInterfaces"]).toEqual([
      { url: "https://routes.example/a2a/v1", protocolBinding: "JSONRPC", protocolVersion: "0.3" },
      { url: "https://routes.example/a2a/grpc", protocolBinding: "GRPC", protocolVersion: "0.3" },
      { url: "https://routes.example/a2a/json", protocolBinding: "HTTP+JSON", protocolVersion: "0.3" },
    ]);
  });

  it("has its capabilities, without those that are gone", () => {
    expect(card["capabilities"]).toEqual({
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: true,
      extensions: [{ uri: "https://routes.example/ext/gpx", description: "Tracks as GPX" }],
    });
  });

  it("has its security schemes and requirements in their new shape", () => {
    expect(card["securitySchemes"]).toEqual({
      login: {
        oauth2SecurityScheme: {
          description: "With an account",
          flows: { clientCredentials: { tokenUrl: "https://id.example/token", scopes: {} } },
        },
      },
      key: { apiKeySecurityScheme: { location: "header", name: "X-Api-Key" } },
      bearer: { httpAuthSecurityScheme: { scheme: "bearer", bearerFormat: "JWT" } },
      oidc: {
        openIdConnectSecurityScheme: {
          openIdConnectUrl: "https://id.example/.well-known/openid-configuration",
        },
      },
      certificate: { mtlsSecurityScheme: {} },
    });
    expect(card["securityRequirements"]).toEqual([
      { schemes: { login: { list: ["routes:read"] } } },
      { schemes: { key: {}, bearer: {} } },
    ]);
    expect(card["skills"]).toMatchObject([
      { securityRequirements: [{ schemes: { login: { list: ["routes:read"] } } }] },
    ]);
  });

  it("keeps everything else", () => {
    for (const field of [
      "name",
      "description",
      "version",
      "provider",
      "iconUrl",
      "documentationUrl",
      "signatures",
      "defaultInputModes",
      "defaultOutputModes",
    ]) {
      expect(card[field], field).toEqual(cardJson03[field]);
    }
  });

  it("comes with a warning for each thing that was lost", () => {
    expect(warnings.join("\n")).toMatch(/0\.3/);
    expect(warnings.join("\n")).toMatch(/login.*authorizationCode/);
    expect(warnings.join("\n")).toMatch(/carrier/);
    expect(warnings).toHaveLength(3);
  });

  it("may have its security in the shape of 1.0 already", async () => {
    const securitySchemes = { key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } } };
    const securityRequirements = [{ schemes: { key: { list: [] } } }];
    const { card: mixed } = await read({ ...cardJson03, securitySchemes, security: securityRequirements });
    expect(mixed["securitySchemes"]).toEqual(securitySchemes);
    expect(mixed["securityRequirements"]).toEqual([{ schemes: { key: {} } }]);
  });

  it("does not look open when it says who may call in another version's members", async () => {
    const { security: _, ...rest } = cardJson03;
    const required = [{ schemes: { key: {} } }];
    for (const members of [
      { securityRequirements: required },
      { security_requirements: required },
      { security: [], securityRequirements: required },
      { security: [], authentication: { schemes: ["key"] } },
    ]) {
      const { card: mixed } = await read({ ...rest, ...members });
      expect([members, mixed["securityRequirements"]]).toEqual([members, required]);
    }
    const skill = { id: "s", name: "S", description: "D", tags: [], security: [] };
    const { card: skilled } = await read({ ...rest, skills: [{ ...skill, securityRequirements: required }] });
    expect(skilled["skills"]).toMatchObject([{ securityRequirements: required }]);
  });
});

describe("a card of 0.2 (Q-2)", async () => {
  const { card, warnings } = await read(cardJson02);

  it("is one of JSON-RPC, of a version that has no name for itself", () => {
    expect(card["supportedInterfaces"]).toEqual([
      { url: "http://localhost:10000/", protocolBinding: "JSONRPC", protocolVersion: "0.2" },
    ]);
  });

  it("has kinds of parts as media types", () => {
    expect(card["defaultInputModes"]).toEqual(["text/plain"]);
    expect(card["defaultOutputModes"]).toEqual([
      "text/plain",
      "application/json",
      "application/octet-stream",
    ]);
    expect(card["skills"]).toMatchObject([{ inputModes: ["application/json"] }]);
  });

  it("has the HTTP schemes of its authentication, each of which will do", async () => {
    expect(card["securitySchemes"]).toEqual({ Bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } });
    expect(card["securityRequirements"]).toEqual([{ schemes: { Bearer: {} } }]);
    const { card: free } = await read({ ...cardJson02, authentication: { schemes: ["none", "Basic"] } });
    expect(free["securityRequirements"]).toBeUndefined();
  });

  it("has names in place of descriptions that were optional, and no half provider", () => {
    expect(card["skills"]).toMatchObject([{ description: "Convert" }]);
    expect(card).not.toHaveProperty("provider");
  });

  it("can ask, when it says so", () => {
    expect(card["capabilities"]).toMatchObject({
      streaming: true,
      extensions: [{ uri: inputRequiredCapability }],
    });
  });

  it("comes with a warning for each thing that was read into it", () => {
    for (const each of [
      /0\.2/,
      /ApiKey/,
      /provider/,
      /convert.*description/,
      /inputRequired/,
      /text, data, file/,
    ]) {
      expect(
        warnings.some((warning) => each.test(warning)),
        String(each),
      ).toBe(true);
    }
    expect(warnings).toHaveLength(6);
  });

  for (const [what, change, problem] of [
    ["no url", { url: undefined }, "url: is required"],
    ["a url that is none", { url: 5 }, "url: must be a string"],
    ["no name", { name: undefined }, "name: is required"],
    ["a version that is none", { version: 5 }, "version: must be a string"],
    ["no skills", { skills: undefined }, "skills: is required"],
    ["a transport that is none", { preferredTransport: {} }, "preferredTransport: must be a string"],
  ] as const) {
    it(`is refused with ${what}, in its own words`, async () => {
      const json = { ...cardJson02, preferredTransport: "JSONRPC", ...change };
      expect(await problemsOf(JSON.stringify(json))).toEqual([problem]);
    });
  }
});

describe("a card of the first agents (R3.2)", () => {
  const scopes = { read: "Reads." };
  const code = {
    authorizationUrl: "https://a.example/authorize",
    tokenUrl: "https://a.example/token",
    scopes,
  };
  const client = { tokenUrl: "https://a.example/token", scopes };
  const oauth = (flow: string, content: object) => ({ oauth2SecurityScheme: { flows: { [flow]: content } } });
  const unmet = (name: string) => [{ schemes: { [name]: {} } }];
  const securityOf = async (authentication: JsonValue) => {
    const { card, warnings } = await read({ ...cardJson02, authentication });
    const { securitySchemes = {}, securityRequirements } = card;
    return {
      securitySchemes,
      securityRequirements,
      warned: warnings.some((each) => /authentication/.test(each)),
    };
  };

  it.each([
    [["ApiKey"], "no caller can meet what it asks for"],
    [["ApiKey", "Basic"], "left out of the security schemes"],
  ])("warns of a scheme that 1.0 cannot express, of %j", async (schemes, consequence) => {
    const { warnings } = await read({ ...cardJson02, authentication: { schemes } });
    expect(warnings.find((warning) => warning.includes("how to present"))).toMatch(
      new RegExp(`"?ApiKey"?: ${consequence}\\.$`),
    );
  });

  for (const [what, authentication, securitySchemes, securityRequirements, warned] of [
    [
      "a scheme that is an object",
      { schemes: [{ scheme: "OAuth2", flows: { authorizationCode: code } }] },
      { OAuth2: oauth("authorizationCode", code) },
      unmet("OAuth2"),
      false,
    ],
    [
      "several flows",
      { schemes: [{ scheme: "OAuth2", flows: { authorizationCode: code, clientCredentials: client } }] },
      {
        "OAuth2.clientCredentials": oauth("clientCredentials", client),
        "OAuth2.authorizationCode": oauth("authorizationCode", code),
      },
      [...unmet("OAuth2.clientCredentials"), ...unmet("OAuth2.authorizationCode")],
      false,
    ],
    [
      "URLs of OAuth beside a bearer token",
      { schemes: ["bearer"], oauth2: { ...code, scopes: ["read"] } },
      {
        bearer: { httpAuthSecurityScheme: { scheme: "bearer" } },
        OAuth2: oauth("authorizationCode", { ...code, scopes: { read: "" } }),
      },
      [...unmet("bearer"), ...unmet("OAuth2")],
      false,
    ],
    ["a scheme that 1.0 cannot express", { schemes: ["ApiKey"] }, {}, unmet("ApiKey"), true],
    ["an object that says nothing", { schemes: [{}] }, {}, unmet("a scheme without a name"), true],
    ["OAuth without a URL", { schemes: [{ scheme: "OAuth2" }] }, {}, unmet("OAuth2"), true],
    [
      "a text",
      "bearer",
      { bearer: { httpAuthSecurityScheme: { scheme: "bearer" } } },
      unmet("bearer"),
      false,
    ],
    ["other members", { type: "kerberos" }, {}, unmet("authentication"), true],
    ["other members beside an empty list", { schemes: [], type: "x" }, {}, unmet("authentication"), true],
    [
      "other members beside nulls",
      { schemes: null, oauth2: null, type: "x" },
      {},
      unmet("authentication"),
      true,
    ],
    ["credentials alone", { credentials: "https://a.example/" }, {}, unmet("authentication"), true],
    ["members without a value", { schemes: [], credentials: null, type: "" }, {}, undefined, false],
    ["a number", { schemes: [5] }, {}, unmet("a scheme without a name"), true],
    ["no scheme at all", { schemes: [] }, {}, undefined, false],
    ["none", { schemes: ["none"] }, {}, undefined, false],
  ] as const) {
    it(`never looks open when it is not: ${what}`, async () => {
      expect(await securityOf(authentication as JsonValue)).toEqual({
        securitySchemes,
        securityRequirements,
        warned,
      });
    });
  }

  it("may have no version, which is then empty, and a provider without a url, whose name is told", async () => {
    const { version: _, ...rest } = cardJson02;
    const { card, warnings } = await read({ ...rest, provider: { organization: "Acme" } });
    expect(card["version"]).toBe("");
    expect(warnings).toContain("The card has no version: it was read as empty.");
    expect(warnings).toContain("The provider Acme lacks its url: it was left out.");
  });
});

describe("any JSON", () => {
  /** Objects that look like cards here and there. */
  const names = [...new Set([cardJson, cardJson02, cardJson03].flatMap((json) => Object.keys(json)))];
  const someCard = fc.oneof(fc.constant(cardJson02), fc.constant(cardJson03), fc.constant(cardJson));
  const cardLike = fc
    .tuple(someCard, fc.dictionary(fc.constantFrom(...names, "__proto__"), fc.jsonValue()))
    .map(([card, changes]) => ({ ...card, ...changes }));

  it("is a card or a CardInvalidError with its problems", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), cardLike), async (json) => {
        const text = JSON.stringify(json);
        try {
          const { card, warnings } = await readCard(text);
          expect(card.supportedInterfaces).not.toHaveLength(0);
          expect(warnings.every((warning) => warning.endsWith("."))).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(CardInvalidError);
          expect((error as CardInvalidError).problems).not.toHaveLength(0); // by the line above
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
