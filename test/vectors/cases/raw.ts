import canonicalize from "canonicalize";
import { bareCard, bareWith, baseCard, baseWith } from "../base-card.ts";
import { es256, type VectorCase } from "../vector-case.ts";
import { always, refused, verified } from "../verdicts.ts";

const mismatch = refused("signature-mismatch", "es256-1", "ES256");

const noisyCard = {
  ...bareCard,
  securitySchemes: {},
  capabilities: { streaming: true, extensions: [] },
  provider: null,
  newMember: "",
};

/** Signed as it stands: RFC 8785 over the card's JSON, without thinking of defaults. */
export const rawCases: readonly VectorCase[] = [
  {
    name: "raw-noise",
    description:
      "Signed as it stands, with members that the canonical form leaves out. All of it is protected, and only `raw` can tell.",
    rule: ["M-7", "RFC 8785"],
    card: noisyCard,
    representable: false,
    canonical: bareWith(['"skills":', '"newMember":"","skills":']),
    signatures: [{ ...es256, payload: canonicalize(noisyCard) ?? "" }],
    expected: always(mismatch, { raw: verified("es256-1", "ES256", "raw") }),
  },
  {
    name: "raw-tampered",
    description: "Signed as it stands, and an empty member was taken out.",
    rule: ["M-7", "RFC 8785"],
    card: { ...noisyCard, securitySchemes: null },
    representable: false,
    canonical: bareWith(['"skills":', '"newMember":"","skills":']),
    signatures: [{ ...es256, payload: canonicalize(noisyCard) ?? "" }],
    expected: always(mismatch),
  },
  {
    name: "raw-snake-case",
    description: "Signed as it stands, in snake_case.",
    rule: ["M-7", "H-2"],
    card: { ...baseCard, documentation_url: "https://example.com" },
    canonical: baseWith([
      '"name":"Weather Agent"',
      '"documentationUrl":"https://example.com","name":"Weather Agent"',
    ]),
    signatures: [
      { ...es256, payload: canonicalize({ ...baseCard, documentation_url: "https://example.com" }) ?? "" },
    ],
    expected: always(mismatch, { raw: verified("es256-1", "ES256", "raw") }),
  },
];
