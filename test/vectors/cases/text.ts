import { bareWith, baseCanonical, baseCard, baseWith } from "../base-card.ts";
import type { VectorCase } from "../vector-case.ts";
import { always, refused } from "../verdicts.ts";

/** A text of the base card in which the members before `"skills"` may be changed. */
const opening = `{"name":"Weather Agent","description":"Tells the weather.","version":"1.0.0",
  "supportedInterfaces":[{"url":"https://agent.example.com/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
  "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
  "skills":[{"id":"forecast","name":"Forecast","description":"Forecasts the weather.","tags":["weather"]}],
  "securitySchemes":{"login":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://login.example.com/.well-known/openid-configuration"}}},
  "securityRequirements":[{"schemes":{"login":{"list":["read"]}}}],
  "signatures":$SIGNATURES,`;

function textWithParams(params: string): string {
  return `${opening}\n  "capabilities":{"extensions":[{"uri":"https://example.com/ext","params":${params}}]}}`;
}

function canonicalWithParams(params: string): string {
  return baseWith([
    '{"streaming":true}',
    `{"extensions":[{"params":${params},"uri":"https://example.com/ext"}]}`,
  ]);
}

/** How numbers, strings and names are written (RFC 8785), and what of a text does not matter. */
export const textCases: readonly VectorCase[] = [
  {
    name: "whitespace-and-order",
    description:
      "Whitespace, the order of members and the way in which characters are escaped do not matter.",
    rule: ["RFC 8785 §3.2.1", "RFC 8785 §3.2.3"],
    cardText:
      '\n{ "signatures": $SIGNATURES,\t"version":"1.0.0" ,\r\n"skills" : [ { "tags":["weather"], "name":"Forecast","description":"Forecasts the \\u0077eather.","id":"forecast" } ],"defaultOutputModes":["text\\/plain"],"n\\u0061me":"Weather\\u0020Agent","defaultInputModes":["text/plain"],"capabilities":{"streaming": true},"securityRequirements":[{"schemes":{"login":{"list":["\\u0072ead"]}}}],"securitySchemes":{"login":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https:\\/\\/login.example.com\\/.well-known\\/openid-configuration"}}},"description":"Tells the weather.","supportedInterfaces":[{"protocolVersion":"1.0","protocolBinding":"JSONRPC","url":"https:\\/\\/agent.example.com\\/a2a"}]}\n',
    canonical: baseCanonical,
    representable: true,
  },
  {
    name: "numbers",
    description:
      "Numbers are written as ECMAScript does: 1e21, 1e-7, 1e16, -0, 4.50, 2^53+1 (which no double can hold), and what is at the edges.",
    rule: ["RFC 8785 §3.2.2.3"],
    cardText: textWithParams(
      '{"n":[1e21,1e-7,1e16,-0,4.50,9007199254740993,1E20,0.000001,1.0,-1e-0,100e-2,5e-324,1.7976931348623157e308,-0.0,0.1,333333333.33333329]}',
    ),
    canonical: canonicalWithParams(
      '{"n":[1e+21,1e-7,10000000000000000,0,4.5,9007199254740992,100000000000000000000,0.000001,1,-1,1,5e-324,1.7976931348623157e+308,0,0.1,333333333.3333333]}',
    ),
    representable: true,
  },
  {
    name: "key-order",
    description:
      "Names are ordered by UTF-16 code units: U+1F600 (D83D DE00) comes before U+FB33, though its code point is higher.",
    rule: ["RFC 8785 §3.2.3"],
    card: {
      ...baseCard,
      capabilities: {
        extensions: [
          {
            uri: "https://example.com/ext",
            params: {
              "\uFB33": 1,
              "\u{1F600}": 2,
              "\u20AC": 3,
              "\u00F6": 4,
              "\u0080": 5,
              "1": 6,
              "\r": 7,
              a: 8,
              B: 9,
              "": 10,
            },
          },
        ],
      },
    },
    canonical: canonicalWithParams(
      '{"":10,"\\r":7,"1":6,"B":9,"a":8,"\u0080":5,"\u00F6":4,"\u20AC":3,"\u{1F600}":2,"\uFB33":1}',
    ),
  },
  {
    name: "astral-characters",
    description:
      "A character outside the Basic Multilingual Plane is the same, written itself or as two escapes.",
    rule: ["RFC 8785 §3.2.2.2"],
    cardText: `${opening.replace("Weather Agent", "\u{1F326} \\ud83c\\udf26 \\uD834\\uDD1E").replace("Tells the weather.", "\u{10FFFF}")}"capabilities":{"streaming":true}}`,
    canonical: baseWith(
      ['"Weather Agent"', '"\u{1F326} \u{1F326} \u{1D11E}"'],
      ['"Tells the weather."', '"\u{10FFFF}"'],
    ),
    representable: true,
  },
  {
    name: "combining-characters",
    description:
      "There is no Unicode normalization: U+00E9 and U+0065 U+0301 look the same and are two different strings.",
    rule: ["RFC 8785 §3.1"],
    card: { ...baseCard, name: "Caf\u00E9", description: "Cafe\u0301" },
    canonical: baseWith(['"Weather Agent"', '"Caf\u00E9"'], ['"Tells the weather."', '"Cafe\u0301"']),
  },
  {
    name: "unescaped-characters",
    description: "`<`, `>`, `&`, U+2028, U+2029, U+007F and `/` are written themselves.",
    rule: ["RFC 8785 §3.2.2.2"],
    cardText: `${opening.replace("Tells the weather.", "<script>&amp;\\u003c\\u2028\\u2029\\u007f\\/ \\u00e9 \\u2028")}"capabilities":{"streaming":true}}`,
    canonical: baseWith(['"Tells the weather."', '"<script>&amp;<\u2028\u2029\u007f/ \u00e9 \u2028"']),
    representable: true,
  },
  {
    name: "control-characters",
    description: "Control characters have their short escapes if there are any, else lower-case \\u00xx.",
    rule: ["RFC 8785 §3.2.2.2"],
    cardText: `${opening.replace(
      "Tells the weather.",
      '\\u0000\\u0001\\u0007\\u0008\\u0009\\u000a\\u000B\\u000c\\u000D\\u001B\\u001f \\b\\t\\n\\f\\r \\" \\\\ \\u0022\\u005C',
    )}"capabilities":{"streaming":true}}`,
    canonical: baseWith([
      '"Tells the weather."',
      '"\\u0000\\u0001\\u0007\\b\\t\\n\\u000b\\f\\r\\u001b\\u001f \\b\\t\\n\\f\\r \\" \\\\ \\"\\\\"',
    ]),
    representable: true,
  },
  {
    name: "nested-params",
    description:
      "90 objects within each other are not too many. Read as protobuf they are: a value inside of another is three messages deep, and a hundred is where decoders stop.",
    rule: ["M", "RFC 8259 §9"],
    cardText: textWithParams(`${'{"a":'.repeat(90)}1${"}".repeat(90)}`),
    canonical: canonicalWithParams(`${'{"a":'.repeat(90)}1${"}".repeat(90)}`),
  },
  {
    name: "snake-case",
    description:
      "A member spelled as in the .proto counts as that member, and the canonical form has its JSON name.",
    rule: ["H-2", "M"],
    card: {
      name: "Weather Agent",
      description: "Tells the weather.",
      version: "1.0.0",
      supported_interfaces: [
        { url: "https://agent.example.com/a2a", protocol_binding: "JSONRPC", protocol_version: "1.0" },
      ],
      capabilities: { streaming: true, push_notifications: false },
      default_input_modes: ["text/plain"],
      default_output_modes: [],
      security_schemes: {
        code: {
          oauth2_security_scheme: {
            flows: {
              authorization_code: {
                authorization_url: "https://login.example.com/authorize",
                token_url: "https://login.example.com/token",
                scopes: {},
                pkce_required: false,
              },
            },
            oauth2_metadata_url: "https://login.example.com/metadata",
          },
        },
        mtls: { mtls_security_scheme: {} },
      },
      security_requirements: [{ schemes: { code: { list: ["read"] }, mtls: {} } }],
      skills: [
        {
          id: "forecast",
          name: "Forecast",
          description: "Forecasts the weather.",
          tags: ["weather"],
          input_modes: [],
        },
      ],
      icon_url: "",
    },
    canonical: bareWith(
      ['{"streaming":true}', '{"pushNotifications":false,"streaming":true}'],
      ['"defaultOutputModes":["text/plain"]', '"defaultOutputModes":[]'],
      ['"name":"Weather Agent"', '"iconUrl":"","name":"Weather Agent"'],
      [
        '"skills":',
        '"securityRequirements":[{"schemes":{"code":{"list":["read"]},"mtls":{}}}],"securitySchemes":{"code":{"oauth2SecurityScheme":{"flows":{"authorizationCode":{"authorizationUrl":"https://login.example.com/authorize","scopes":{},"tokenUrl":"https://login.example.com/token"}},"oauth2MetadataUrl":"https://login.example.com/metadata"}},"mtls":{"mtlsSecurityScheme":{}}},"skills":',
      ],
    ),
  },
  {
    name: "unknown-members",
    description:
      "Members that nobody knows yet stay as they are, empty or not, in any place: the signer of tomorrow has signed them. They have no protobuf bytes.",
    rule: ["M-6", "H-6"],
    card: {
      ...baseCard,
      newMember: null,
      new_member: { list: [], text: "", a_b: 0 },
      capabilities: { streaming: true, telepathy: false },
      supportedInterfaces: [
        {
          url: "https://agent.example.com/a2a",
          protocolBinding: "JSONRPC",
          protocolVersion: "1.0",
          region: "",
        },
      ],
    },
    representable: false,
    canonical: baseWith(
      ['{"streaming":true}', '{"streaming":true,"telepathy":false}'],
      [
        '"securityRequirements":',
        '"newMember":null,"new_member":{"a_b":0,"list":[],"text":""},"securityRequirements":',
      ],
      ['"protocolVersion":"1.0","url"', '"protocolVersion":"1.0","region":"","url"'],
    ),
  },
  {
    name: "member-called-proto",
    description:
      "A member called `__proto__` must not get lost on the way to the canonical form, as it does where it is assigned. To refuse such a card is our choice: one careless copy of it would be of another type.",
    rule: ["M-6"],
    cardText: `${opening}"capabilities":{"streaming":true},"__proto__":{"name":"Somebody Else"}}`,
    canonical: baseWith(['{"capabilities"', '{"__proto__":{"name":"Somebody Else"},"capabilities"']),
    expected: always(refused("card-invalid")),
  },
];
