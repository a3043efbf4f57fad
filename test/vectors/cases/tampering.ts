import type { JsonObject } from "@bufbuild/protobuf";
import {
  bareCard,
  bareWith,
  baseCanonical,
  baseCard,
  baseWith,
  baseWithSecurity,
  replaced,
} from "../base-card.ts";
import { es256, type VectorCase } from "../vector-case.ts";
import { always, doubted, refused, refusedBy, verified } from "../verdicts.ts";

const clientCredentials = (tokenUrl: string): JsonObject => ({
  oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl, scopes: { read: "May read." } } } },
});

const schemesCanonical =
  '{"google":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{"read":"May read."},"tokenUrl":"https://login.example.com/token"}}}}}';
const scopedCanonical = baseWithSecurity(schemesCanonical, '[{"schemes":{"google":{"list":["read"]}}}]');
const scopeFreeCanonical = baseWithSecurity(schemesCanonical, '[{"schemes":{"google":{}}}]');

const securitySchemes = { google: clientCredentials("https://login.example.com/token") };
const scoped = [{ schemes: { google: { list: ["read"] } } }];

const mismatch = refused("signature-mismatch", "es256-1", "ES256");

/** Cards that were changed after a signer had signed them by the rules of the specification. */
export const tamperingCases: readonly VectorCase[] = [
  {
    name: "tampered-name",
    description: "A letter was changed.",
    rule: ["M-3", "§8.4.3"],
    card: { ...baseCard, name: "Weather Agenf" },
    canonical: baseWith(['"Weather Agent"', '"Weather Agenf"']),
    signatures: [{ ...es256, payload: baseCanonical }],
    expected: always(mismatch),
  },
  {
    name: "tampered-interface",
    description: "Calls would go to somebody else.",
    rule: ["M-3"],
    card: {
      ...baseCard,
      supportedInterfaces: [
        { url: "https://evil.example/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ],
    },
    canonical: baseWith(["https://agent.example.com/a2a", "https://evil.example/a2a"]),
    signatures: [{ ...es256, payload: baseCanonical }],
    expected: always(mismatch),
  },
  {
    name: "tampered-unknown-member",
    description:
      "A member that nobody knows was added. `js-1` and `python-1` would not see it, as it stands in no payload of theirs: they count, and say so.",
    rule: ["M-3", "M-6"],
    card: { ...baseCard, url: "https://evil.example/a2a" },
    representable: false,
    canonical: baseWith(['"version":', '"url":"https://evil.example/a2a","version":']),
    signatures: [{ ...es256, payload: baseCanonical }],
    expected: always(mismatch, {
      "js-1": verified("es256-1", "ES256", "js-1", ["url"]),
      "python-1": verified("es256-1", "ES256", "python-1", ["url"]),
    }),
  },
  {
    name: "stripped-requirement",
    description: "The requirement that demanded a scheme without scopes was taken out.",
    rule: ["M-3", "M"],
    card: { ...bareCard, securitySchemes },
    canonical: baseWithSecurity(schemesCanonical),
    signatures: [{ ...es256, payload: scopeFreeCanonical }],
    expected: always(mismatch),
  },
  {
    name: "stripped-scope",
    description: "The scope was taken out of a requirement.",
    rule: ["M-3", "M"],
    card: { ...baseCard, securitySchemes, securityRequirements: [{ schemes: { google: { list: [] } } }] },
    canonical: scopeFreeCanonical,
    signatures: [{ ...es256, payload: scopedCanonical }],
    expected: always(mismatch),
  },
  {
    name: "added-empty-requirement",
    description:
      "A requirement was added that asks for nothing, so that no credentials will do. `js-1` and `python-1` do not see it: the signature counts as theirs, and the card is refused for what it leaves out.",
    rule: ["M-3", "M", "L-9"],
    card: { ...baseCard, securitySchemes, securityRequirements: [...scoped, { schemes: {} }] },
    canonical: replaced(scopedCanonical, ['["read"]}}}]', '["read"]}}},{}]']),
    signatures: [{ ...es256, payload: scopedCanonical }],
    expected: always(mismatch, {
      "js-1": refusedBy("js-1", "uncovered", "es256-1", "ES256", ["securityRequirements[1]"]),
      "python-1": refusedBy("python-1", "uncovered", "es256-1", "ES256", ["securityRequirements[1]"]),
    }),
  },
  {
    name: "replaced-token-url",
    description: "Credentials would go to somebody else.",
    rule: ["M-3"],
    card: {
      ...baseCard,
      securitySchemes: { google: clientCredentials("https://login.evil.example/token") },
      securityRequirements: scoped,
    },
    canonical: replaced(scopedCanonical, [
      "https://login.example.com/token",
      "https://login.evil.example/token",
    ]),
    signatures: [{ ...es256, payload: scopedCanonical }],
    expected: always(mismatch),
  },
  {
    name: "two-flows",
    description:
      "Two members of a oneof: a second flow with another token URL was added. Parsers disagree on which one counts. Both stay in the canonical form, and the card is refused before its signatures are looked at.",
    rule: ["H-14", "M"],
    card: {
      ...baseCard,
      securitySchemes: {
        google: {
          oauth2SecurityScheme: {
            flows: {
              clientCredentials: {
                tokenUrl: "https://login.example.com/token",
                scopes: { read: "May read." },
              },
              password: { tokenUrl: "https://login.evil.example/token" },
            },
          },
        },
      },
      securityRequirements: scoped,
    },
    representable: false,
    canonical: replaced(scopedCanonical, [
      '"tokenUrl":"https://login.example.com/token"}}',
      '"tokenUrl":"https://login.example.com/token"},"password":{"tokenUrl":"https://login.evil.example/token"}}',
    ]),
    signatures: [{ ...es256, payload: scopedCanonical }],
    expected: always(refused("card-invalid")),
  },
  {
    name: "signatures-not-a-list",
    description:
      "`signatures` is an object. It is in no canonical form, whatever it is; the card is refused.",
    rule: ["M", "§8.4.2"],
    card: { ...baseCard, signatures: { protected: "", signature: "" } },
    representable: false,
    signatures: [],
    expected: always(refused("card-invalid")),
  },
  {
    name: "minimum-security",
    description: "Properly signed, but the policy demands that callers be asked for credentials.",
    rule: ["M-4", "L-9"],
    card: bareCard,
    canonical: bareWith(),
    policy: { minimumSecurity: { requirements: true } },
    expected: {
      ...doubted("es256-1", "ES256", "securityRequirements", "securitySchemes"),
      strict: refusedBy("strict", "security-too-weak", "es256-1", "ES256"),
      raw: refusedBy("strict", "security-too-weak", "es256-1", "ES256"),
    },
  },
  {
    name: "minimum-security-tls",
    description: "Properly signed, but the policy demands TLS.",
    rule: ["M-4", "O-1"],
    card: {
      ...baseCard,
      supportedInterfaces: [
        { url: "http://agent.example.com/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ],
    },
    canonical: baseWith(["https://agent", "http://agent"]),
    policy: { minimumSecurity: { tls: true } },
    expected: always(refusedBy("strict", "security-too-weak", "es256-1", "ES256")),
  },
];
