import { bareCard, bareWith, baseCard, baseWith } from "../base-card.ts";
import { es256, type VectorCase } from "../vector-case.ts";
import { always, refused } from "../verdicts.ts";

/** What is empty, false or left out (specification §8.4.1, rule 1). */
export const emptyValueCases: readonly VectorCase[] = [
  {
    name: "spec-example",
    description:
      "The worked example of §8.4.1, byte for byte. It is a fragment: REQUIRED members are missing, which the canonical form does not mind and the verdict does, though the signature is right. It has no protobuf bytes: read from those, REQUIRED members would be there, empty.",
    rule: ["§8.4.1", "H-7"],
    card: {
      name: "Example Agent",
      description: "",
      capabilities: { streaming: false, pushNotifications: false, extensions: [] },
      skills: [],
    },
    representable: false,
    canonical:
      '{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}',
    expected: always(refused("card-invalid")),
  },
  {
    name: "spec-example-completed",
    description: "The worked example of §8.4.1 with the REQUIRED members that it leaves out.",
    rule: ["§8.4.1"],
    card: {
      name: "Example Agent",
      description: "",
      version: "1.0.0",
      supportedInterfaces: [
        { url: "https://example.com/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ],
      capabilities: { streaming: false, pushNotifications: false, extensions: [] },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [],
    },
    canonical:
      '{"capabilities":{"pushNotifications":false,"streaming":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"description":"","name":"Example Agent","skills":[],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://example.com/a2a"}],"version":"1.0.0"}',
  },
  {
    name: "empty-description",
    description: "`description` is REQUIRED: it stays although it is empty.",
    rule: ["§8.4.1", "M"],
    card: { ...baseCard, description: "" },
    canonical: baseWith(['"Tells the weather."', '""']),
  },
  {
    name: "empty-skills",
    description: "`skills` is REQUIRED: it stays although it is empty.",
    rule: ["§8.4.1", "M"],
    card: { ...baseCard, skills: [] },
    canonical: baseWith([
      '[{"description":"Forecasts the weather.","id":"forecast","name":"Forecast","tags":["weather"]}]',
      "[]",
    ]),
  },
  {
    name: "empty-tags",
    description: "`tags` of a skill is REQUIRED: it stays although it is empty. `examples` is not: it goes.",
    rule: ["§8.4.1", "M"],
    card: {
      ...baseCard,
      skills: [
        { id: "forecast", name: "Forecast", description: "Forecasts the weather.", tags: [], examples: [] },
      ],
    },
    canonical: baseWith(['"tags":["weather"]', '"tags":[]']),
  },
  {
    name: "empty-modes",
    description:
      "`defaultInputModes` and `defaultOutputModes` are REQUIRED; `inputModes` and `outputModes` of a skill are not.",
    rule: ["§8.4.1", "M"],
    card: {
      ...baseCard,
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [
        {
          id: "forecast",
          name: "Forecast",
          description: "Forecasts the weather.",
          tags: ["weather"],
          inputModes: [],
          outputModes: [],
        },
      ],
    },
    canonical: baseWith(
      ['"defaultInputModes":["text/plain"]', '"defaultInputModes":[]'],
      ['"defaultOutputModes":["text/plain"]', '"defaultOutputModes":[]'],
    ),
  },
  {
    name: "streaming-false",
    description: "`streaming` is `optional` and set to false: it stays.",
    rule: ["§8.4.1", "§5.7"],
    card: { ...baseCard, capabilities: { streaming: false } },
    canonical: baseWith(['{"streaming":true}', '{"streaming":false}']),
  },
  {
    name: "streaming-absent",
    description:
      "`streaming` is not set: it is not there. `capabilities` is a message that is set, and REQUIRED: it stays.",
    rule: ["§8.4.1", "§5.7"],
    card: { ...baseCard, capabilities: {} },
    canonical: baseWith(['{"streaming":true}', "{}"]),
  },
  {
    name: "optional-urls-empty",
    description: "`documentationUrl` and `iconUrl` are `optional`: set to nothing they stay.",
    rule: ["§8.4.1", "§5.7"],
    card: { ...baseCard, documentationUrl: "", iconUrl: "" },
    canonical: baseWith([
      '"name":"Weather Agent"',
      '"documentationUrl":"","iconUrl":"","name":"Weather Agent"',
    ]),
  },
  {
    name: "defaults-without-presence",
    description:
      "What is neither REQUIRED nor `optional` goes when it is at its default: `tenant`, `securitySchemes`, `securityRequirements`, `extensions`, `required`, `uri` of an extension. An extension of which nothing is left stays as `{}`.",
    rule: ["§8.4.1", "M"],
    card: {
      ...bareCard,
      supportedInterfaces: [
        {
          url: "https://agent.example.com/a2a",
          protocolBinding: "JSONRPC",
          protocolVersion: "1.0",
          tenant: "",
        },
      ],
      capabilities: { streaming: true, extensions: [{ uri: "", description: "", required: false }] },
      securitySchemes: {},
      securityRequirements: [],
    },
    canonical: bareWith(['{"streaming":true}', '{"extensions":[{}],"streaming":true}']),
  },
  {
    name: "null-is-unset",
    description: "`null` is not set, whatever the member is, and stands in no canonical form.",
    rule: ["§8.4.1", "H-11"],
    card: {
      ...baseCard,
      documentationUrl: null,
      provider: null,
      iconUrl: null,
      capabilities: { streaming: true, pushNotifications: null, extensions: null },
    },
  },
  {
    name: "required-null",
    description: "A REQUIRED member that is null is missing. It is not made up, and the card is refused.",
    rule: ["H-7", "H-11", "M"],
    card: { ...baseCard, description: null },
    representable: false,
    canonical: baseWith(['"description":"Tells the weather.",', ""]),
    expected: always(refused("card-invalid")),
  },
  {
    name: "required-missing",
    description: "A REQUIRED member that is missing is not made up, and the card is refused.",
    rule: ["H-7", "M"],
    card: {
      ...baseCard,
      skills: [{ id: "forecast", name: "Forecast", description: "Forecasts the weather." }],
    },
    representable: false,
    canonical: baseWith([',"tags":["weather"]', ""]),
    expected: always(refused("card-invalid")),
  },
  {
    name: "wrong-type",
    description:
      "A member of a wrong type has a canonical form, because that never judges; the card is refused.",
    rule: ["M"],
    card: { ...baseCard, name: 5 },
    representable: false,
    canonical: baseWith(['"Weather Agent"', "5"]),
    expected: always(refused("card-invalid")),
  },
  {
    name: "provider",
    description: "`provider` is a message: it stays when it is set, with its REQUIRED members.",
    rule: ["§8.4.1", "M"],
    card: { ...baseCard, provider: { organization: "Example", url: "" } },
    canonical: baseWith([
      '"securityRequirements":',
      '"provider":{"organization":"Example","url":""},"securityRequirements":',
    ]),
  },
  {
    name: "params-empty-values",
    description:
      "Inside `params` nothing is ever left out: null, the empty string, list and object, nested or not.",
    rule: ["§8.4.1", "H-13", "M"],
    card: {
      ...baseCard,
      capabilities: {
        extensions: [
          {
            uri: "https://example.com/ext",
            params: {
              null: null,
              text: "",
              list: [],
              object: {},
              false: false,
              zero: 0,
              nested: { list: [null, "", [], {}] },
            },
          },
        ],
      },
    },
    canonical: baseWith([
      '{"streaming":true}',
      '{"extensions":[{"params":{"false":false,"list":[],"nested":{"list":[null,"",[],{}]},"null":null,"object":{},"text":"","zero":0},"uri":"https://example.com/ext"}]}',
    ]),
  },
  {
    name: "params-empty",
    description: "`params` is a message: set to `{}` it stays.",
    rule: ["§8.4.1", "M"],
    card: { ...baseCard, capabilities: { extensions: [{ uri: "https://example.com/ext", params: {} }] } },
    canonical: baseWith([
      '{"streaming":true}',
      '{"extensions":[{"params":{},"uri":"https://example.com/ext"}]}',
    ]),
  },
  {
    name: "params-names",
    description:
      "Names inside `params` are the extension's own: snake_case stays, and so does the name of a card's member.",
    rule: ["H-13", "M"],
    card: {
      ...baseCard,
      capabilities: {
        extensions: [
          {
            uri: "https://example.com/ext",
            params: { default_input_modes: [], signatures: [], iconUrl: "", icon_url: "" },
          },
        ],
      },
    },
    canonical: baseWith([
      '{"streaming":true}',
      '{"extensions":[{"params":{"default_input_modes":[],"iconUrl":"","icon_url":"","signatures":[]},"uri":"https://example.com/ext"}]}',
    ]),
  },
  {
    name: "enum-as-number",
    description:
      "No member of an Agent Card is an enum. A number that another protocol would read as one, inside `params`, stays the number that it is.",
    rule: ["H-3", "H-13"],
    card: {
      ...baseCard,
      capabilities: {
        extensions: [{ uri: "https://example.com/ext", params: { state: 3, role: "ROLE_AGENT" } }],
      },
    },
    canonical: baseWith([
      '{"streaming":true}',
      '{"extensions":[{"params":{"role":"ROLE_AGENT","state":3},"uri":"https://example.com/ext"}]}',
    ]),
  },
  {
    name: "unprotected-header",
    description: "`header` of a signature is not signed, and `signatures` is in no canonical form.",
    rule: ["§8.4.1", "RFC 7515 §4"],
    card: baseCard,
    signatures: [
      { ...es256, unprotected: { comment: "anybody may write here", jku: "https://evil.example" } },
    ],
  },
];
