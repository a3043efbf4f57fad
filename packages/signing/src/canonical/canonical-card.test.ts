import { createHash } from "node:crypto";
import { AgentCardSchema } from "@a2a-connect/proto";
import { create, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { canonicalCard, canonicalSignedCard, cardDigest } from "./canonical-card.ts";
import { CardTextError, readCardText } from "./unambiguous-text.ts";

describe("the canonical form of a card", () => {
  it("is that of the specification's own example, byte for byte (§8.4.1)", () => {
    const fragment = `{
      "name": "Example Agent",
      "description": "",
      "capabilities": {
        "streaming": false,
        "pushNotifications": false,
        "extensions": []
      },
      "skills": []
    }`;
    expect(canonicalCard(fragment)).toBe(
      '{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}',
    );
  });

  for (const [what, card, canonical] of [
    [
      "keeps REQUIRED fields that are empty",
      '{"version":"","skills":[],"name":""}',
      '{"name":"","skills":[],"version":""}',
    ],
    ["does not invent a REQUIRED field", '{"name":"A"}', '{"name":"A"}'],
    ["drops null, REQUIRED or not", '{"name":null,"provider":null,"iconUrl":null}', "{}"],
    [
      "keeps optional fields that are set to their default",
      '{"iconUrl":"","documentationUrl":""}',
      '{"documentationUrl":"","iconUrl":""}',
    ],
    [
      "drops other fields at their default",
      '{"securitySchemes":{},"securityRequirements":[],"supportedInterfaces":[{"tenant":"","url":""}]}',
      '{"supportedInterfaces":[{"url":""}]}',
    ],
    [
      "drops what is false and not optional",
      '{"capabilities":{"streaming":false,"extensions":[{"uri":"","required":false}]}}',
      '{"capabilities":{"extensions":[{}],"streaming":false}}',
    ],
    [
      "keeps a message that is set",
      '{"provider":{},"securitySchemes":{"m":{"mtlsSecurityScheme":{}},"n":{}}}',
      '{"provider":{},"securitySchemes":{"m":{"mtlsSecurityScheme":{}},"n":{}}}',
    ],
    [
      "keeps the keys of maps and strips their values",
      '{"securityRequirements":[{"schemes":{"google":{"list":[]}}},{"schemes":{}}]}',
      '{"securityRequirements":[{"schemes":{"google":{}}},{}]}',
    ],
    [
      "keeps REQUIRED maps",
      '{"securitySchemes":{"o":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{},"refreshUrl":""}}}}}}',
      '{"securitySchemes":{"o":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{}}}}}}}',
    ],
    [
      "leaves what is inside a Struct alone",
      '{"capabilities":{"extensions":[{"params":{"a_b":null,"c":"","d":[],"e":{},"f":0,"g":false}}]}}',
      '{"capabilities":{"extensions":[{"params":{"a_b":null,"c":"","d":[],"e":{},"f":0,"g":false}}]}}',
    ],
    [
      "takes snake_case for the field that it is",
      '{"icon_url":"","default_input_modes":[],"security_schemes":{"k":{"api_key_security_scheme":{"location":"header"}}}}',
      '{"defaultInputModes":[],"iconUrl":"","securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header"}}}}',
    ],
    [
      "keeps members that nobody knows, untouched",
      '{"zz_new":{"b":[],"a":null},"skills":[{"x":""}]}',
      '{"skills":[{"x":""}],"zz_new":{"a":null,"b":[]}}',
    ],
    [
      "keeps a member called __proto__",
      '{"__proto__":{"name":"x"},"securitySchemes":{"__proto__":{"a":1}}}',
      '{"__proto__":{"name":"x"},"securitySchemes":{"__proto__":{"a":1}}}',
    ],
    [
      "leaves values of a wrong type alone",
      '{"name":5,"skills":"none","capabilities":[],"securitySchemes":[{}],"provider":"me"}',
      '{"capabilities":[],"name":5,"provider":"me","securitySchemes":[{}],"skills":"none"}',
    ],
    [
      "leaves elements that are no objects alone",
      '{"skills":[null,1,{"id":"","examples":[]}]}',
      '{"skills":[null,1,{"id":""}]}',
    ],
    ["leaves signatures out, whatever they are", '{"signatures":"x","name":"A"}', '{"name":"A"}'],
    [
      "orders names by UTF-16 code units",
      '{"\\ufb33":1,"\\ud83d\\ude00":2,"a":3,"B":4}',
      '{"B":4,"a":3,"\u{1F600}":2,"\uFB33":1}',
    ],
    [
      "writes numbers as ECMAScript does",
      '{"n":[1e21,1e-7,1E16,-0,4.50,9007199254740993,0.1e1]}',
      '{"n":[1e+21,1e-7,10000000000000000,0,4.5,9007199254740992,1]}',
    ],
    [
      "escapes no more than it must",
      '{"n":"<>&\\u2028\\u007f\\u001f\\/\\u00e9\\ne\\u0301"}',
      '{"n":"<>&\u2028\u007f\\u001f/\u00e9\\ne\u0301"}',
    ],
  ] as const) {
    it(what, () => {
      expect(canonicalCard(card)).toBe(canonical);
      expect(canonicalCard(canonical)).toBe(canonical);
    });
  }

  for (const [fault, path, card] of [
    ["not-json", undefined, "{"],
    ["not-json", undefined, ""],
    ["not-json", undefined, '{"a":1,"a":2'],
    ["not-an-object", undefined, "[]"],
    ["not-an-object", undefined, "null"],
    ["duplicate-member", "name", '{"name":"A","name":"B"}'],
    ["duplicate-member", "skills[1].id", '{"skills":[{"id":"a"},{"id":"b","id":"c"}]}'],
    [
      "duplicate-member",
      "capabilities.extensions[0].params.k",
      '{"capabilities":{"extensions":[{"params":{"k":1,"\\u006b":1}}]}}',
    ],
    ["both-spellings", "icon_url", '{"icon_url":"a","iconUrl":"a"}'],
    ["both-spellings", "icon_url", '{"iconUrl":null,"icon_url":"a"}'],
    [
      "both-spellings",
      "securitySchemes.o.oauth2SecurityScheme.flows.clientCredentials.token_url",
      '{"securitySchemes":{"o":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"tokenUrl":"https://a","token_url":"https://b"}}}}}}',
    ],
    ["lone-surrogate", "name", '{"name":"\\ud800"}'],
    ["lone-surrogate", "skills[0].tags[1]", '{"skills":[{"tags":["a","\\udc00"]}]}'],
    ["lone-surrogate", undefined, '{"\\ud800":1}'],
    ["number-out-of-range", "x[0].y", '{"x":[{"y":1e400}]}'],
    ["too-deep", undefined, "[".repeat(1_048_576)],
    ["too-deep", undefined, `{"a":${'{"a":'.repeat(100)}1${"}".repeat(101)}`],
  ] as const) {
    it(`is refused with ${fault}${path === undefined ? "" : ` at ${path}`}: ${card.slice(0, 60)}`, () => {
      const refused = refusalOf(() => canonicalCard(card));
      expect(refused.fault).toBe(fault);
      if (path !== undefined) {
        expect(refused.path).toBe(path);
        expect(refused.message).toContain(path);
      }
    });
  }

  it("takes a card of exactly 100 levels", () => {
    const deepest = `{"a":${"[".repeat(99)}${"]".repeat(99)}}`;
    expect(canonicalCard(deepest)).toBe(deepest);
  });

  it("of a message is that of its JSON, signed or not", () => {
    const card = create(AgentCardSchema, {
      name: "A",
      capabilities: { streaming: false },
      securityRequirements: [{ schemes: { google: {} } }],
      signatures: [{ protected: "p", signature: "s", header: { a: [] } }],
    });
    const unsigned =
      '{"capabilities":{"streaming":false},"defaultInputModes":[],"defaultOutputModes":[],"description":"","name":"A","securityRequirements":[{"schemes":{"google":{}}}],"skills":[],"supportedInterfaces":[],"version":""}';
    expect(canonicalCard(card)).toBe(unsigned);
    expect(canonicalSignedCard(card)).toBe(
      unsigned.replace(
        '"skills":[]',
        '"signatures":[{"header":{"a":[]},"protected":"p","signature":"s"}],"skills":[]',
      ),
    );
    expect(card.signatures).toHaveLength(1);
  });

  it("of a message is refused when it holds what JSON cannot", () => {
    const card = create(AgentCardSchema, {
      capabilities: { extensions: [{ params: { a: Number.NaN } }] },
    });
    expect(refusalOf(() => canonicalCard(card)).fault).toBe("number-out-of-range");
  });

  it("has a digest that is the SHA-256 of its UTF-8", async () => {
    const card = '{"name":"\u{1F600}é"}';
    expect(await cardDigest(card)).toBe(createHash("sha256").update(card, "utf8").digest("hex"));
  });
});

describe("reading the text of a card", () => {
  it("refuses one that is longer than it may be", () => {
    expect(refusalOf(() => readCardText('{"a":1}', 6)).fault).toBe("too-large");
    expect(readCardText('{"a":1}', 7)).toEqual({ a: 1 });
  });
});

describe("pruning a card", () => {
  it("meets no kinds of fields but those that it knows", () => {
    const kinds = new Set<string>();
    const visit = (message: DescMessage) => {
      if (message.typeName.startsWith("google.protobuf.")) {
        kinds.add(message.typeName);
        return;
      }
      for (const field of message.fields) {
        kinds.add(
          field.scalar === undefined ? field.fieldKind : `${field.fieldKind} of ${ScalarType[field.scalar]}`,
        );
        if (field.message !== undefined) visit(field.message);
      }
    };
    visit(AgentCardSchema);
    expect([...kinds].toSorted()).toEqual([
      "google.protobuf.Struct",
      "list",
      "list of STRING",
      "map",
      "map of STRING",
      "message",
      "scalar of BOOL",
      "scalar of STRING",
    ]);
  });
});

function refusalOf(refused: () => unknown): CardTextError {
  try {
    refused();
  } catch (error) {
    if (error instanceof CardTextError) {
      return error;
    }
    throw error;
  }
  throw new Error("it was taken");
}
