import type { JsonObject } from "@bufbuild/protobuf";
import { bareCard, bareWith, baseCard, baseWith, baseWithSecurity, replaced } from "../base-card.ts";
import { type HandedAs, jsSdk, jsSdkAccepts, signByJsSdk } from "../js-sdk.ts";
import type { SignatureBook } from "../signature-book.ts";
import type { Vector } from "../vector.ts";
import type { VectorCase } from "../vector-case.ts";
import { always, doubted, refused, refusedBy, verified } from "../verdicts.ts";

/** A case whose signature the SDK makes. */
interface SdkCase {
  readonly name: string;
  readonly description: string;
  readonly rule?: readonly string[];
  /** What the SDK has signed. */
  readonly signed: JsonObject;
  /** What became of it in the hands of an attacker; left out: nothing. */
  readonly tampered?: JsonObject;
  readonly as?: HandedAs;
  readonly canonical: NonNullable<VectorCase["canonical"]>;
  readonly representable?: boolean;
  readonly policy?: JsonObject;
  readonly expected: Vector["expected"];
}

const kid = "es256-1";
const mismatch = refused("signature-mismatch", kid, "ES256");
const tokenUrl = "https://login.example.com/token";
const evilTokenUrl = "https://login.evil.example/token";

/** By the SDK or an older one of Python: the same payload as long as all is ASCII and no number stands in `params`. */
function legacy(uncovered: readonly string[], reason?: string): Vector["expected"] {
  const by = (profile: "js-1" | "python-1") =>
    reason === undefined
      ? verified(kid, "ES256", profile, uncovered)
      : refusedBy(profile, reason, kid, "ES256", uncovered);
  return always(mismatch, { "js-1": by("js-1"), "python-1": by("python-1") });
}

/** The base card with a skill without tags, which the SDK does not sign: its payload is never the strict one. */
const lossyCard = { ...baseCard, skills: baseCard.skills.map((skill) => ({ ...skill, tags: [] })) };
const { securitySchemes: _, securityRequirements: __, ...lossyBareCard } = lossyCard;
const noTags = ['"tags":["weather"]', '"tags":[]'] as const;

const google = {
  oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl, scopes: { read: "May read." } } } },
};
const googleCanonical = `{"google":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{"read":"May read."},"tokenUrl":"${tokenUrl}"}}}}}`;
const scoped = { schemes: { google: { list: ["read"] } } };
const scopeFree = { schemes: { google: { list: [] } } };
const scopedCanonical = baseWithSecurity(googleCanonical, '[{"schemes":{"google":{"list":["read"]}}}]');

function withFlow(...flows: readonly JsonObject[]): JsonObject {
  return {
    ...baseCard,
    securitySchemes: { google: { oauth2SecurityScheme: { flows: Object.assign({}, ...flows) } } },
    securityRequirements: [scoped],
  };
}

const clientCredentials = { clientCredentials: google.oauth2SecurityScheme.flows.clientCredentials };

const cases: readonly SdkCase[] = [
  {
    name: "js-1-plain",
    description: "Signed by the SDK. Nothing in the card is empty, so what it has signed is the strict form.",
    signed: baseCard,
    canonical: baseWith(),
    expected: always(verified(kid, "ES256")),
  },
  {
    name: "js-1-empty-tags",
    description: "Signed by the SDK, which leaves out REQUIRED lists that are empty: they are not protected.",
    signed: lossyCard,
    canonical: baseWith(noTags),
    expected: legacy(["skills[0].tags"]),
  },
  {
    name: "js-1-empty-params",
    description:
      "Signed by the SDK, which leaves out whatever is empty inside `params`, too. A path names the outermost value.",
    rule: ["M-7", "H-13"],
    signed: {
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
              nested: { list: ["", [null]] },
              kept: ["a", "", "b"],
            },
          },
        ],
      },
    },
    canonical: baseWith([
      '{"streaming":true}',
      '{"extensions":[{"params":{"kept":["a","","b"],"list":[],"nested":{"list":["",[null]]},"null":null,"object":{},"text":""},"uri":"https://example.com/ext"}]}',
    ]),
    expected: legacy(
      ["null", "text", "list", "object", "nested", "kept[1]"].map(
        (name) => `capabilities.extensions[0].params.${name}`,
      ),
    ),
  },
  {
    name: "js-1-scoped-requirement",
    description: "Signed by the SDK: requirement and scheme are protected, the empty list of tags is not.",
    signed: { ...lossyCard, securitySchemes: { google }, securityRequirements: [scoped] },
    canonical: replaced(scopedCanonical, noTags),
    expected: legacy(["skills[0].tags"]),
  },
  {
    name: "js-1-scope-free-requirement",
    description:
      "Signed by the SDK, which leaves out a requirement without scopes. Nobody has tampered, but anybody could have put it there or taken it out, so the signature does not count.",
    signed: { ...baseCard, securitySchemes: { google }, securityRequirements: [scopeFree] },
    canonical: baseWithSecurity(googleCanonical, '[{"schemes":{"google":{}}}]'),
    expected: legacy(["securityRequirements"], "uncovered"),
  },
  {
    name: "js-1-scope-free-requirement-allowed",
    description: "The same under a policy that takes what is not protected.",
    signed: { ...baseCard, securitySchemes: { google }, securityRequirements: [scopeFree] },
    canonical: baseWithSecurity(googleCanonical, '[{"schemes":{"google":{}}}]'),
    policy: { allowUncovered: true },
    expected: legacy(["securityRequirements"]),
  },
  {
    name: "js-1-skill-requirement",
    description: "The same for a requirement of a skill.",
    signed: {
      ...baseCard,
      securitySchemes: { google },
      securityRequirements: [scoped],
      skills: baseCard.skills.map((skill) => ({ ...skill, securityRequirements: [scopeFree] })),
    },
    canonical: replaced(scopedCanonical, [
      '"name":"Forecast",',
      '"name":"Forecast","securityRequirements":[{"schemes":{"google":{}}}],',
    ]),
    expected: legacy(["skills[0].securityRequirements"], "uncovered"),
  },
  {
    name: "js-1-typed-card",
    description:
      "Signed by the SDK as its types ask for it, by an `AgentCard` with `$case`: no scheme stands in the payload at all.",
    signed: { ...baseCard, securitySchemes: { google }, securityRequirements: [scoped] },
    as: "typed",
    canonical: scopedCanonical,
    expected: always(mismatch, { "js-1": refusedBy("js-1", "uncovered", kid, "ES256", ["securitySchemes"]) }),
  },
  {
    name: "attack-stripped-requirement",
    description:
      "The requirement without scopes was taken out, and the SDK does not see it. The scheme that no requirement names is the trace.",
    signed: { ...lossyCard, securitySchemes: { google }, securityRequirements: [scopeFree] },
    tampered: { ...lossyBareCard, securitySchemes: { google } },
    canonical: replaced(baseWithSecurity(googleCanonical), noTags),
    expected: legacy(["securityRequirements", "skills[0].tags"], "uncovered"),
  },
  {
    name: "attack-stripped-requirement-coinciding",
    description:
      "The same with a card in which nothing else is empty. What is left is, byte for byte, what a strict signer would have signed of it: with `strict` alone nobody can tell. Who enables a profile of signers that lose requirements must not take it for their strict signature: it protects no more than theirs.",
    signed: { ...baseCard, securitySchemes: { google }, securityRequirements: [scopeFree] },
    tampered: { ...bareCard, securitySchemes: { google } },
    canonical: baseWithSecurity(googleCanonical),
    expected: doubted(kid, "ES256", "securityRequirements"),
  },
  {
    name: "attack-added-empty-requirement",
    description: "A requirement that asks for nothing was added, so that no credentials will do.",
    signed: { ...baseCard, securitySchemes: { google }, securityRequirements: [scoped] },
    tampered: { ...baseCard, securitySchemes: { google }, securityRequirements: [scoped, { schemes: {} }] },
    canonical: replaced(scopedCanonical, ['["read"]}}}]', '["read"]}}},{}]']),
    expected: legacy(["securityRequirements[1]"], "uncovered"),
  },
  {
    name: "attack-added-scope-free-requirement",
    description: "A requirement without the scope was added beside the one that demands it.",
    signed: { ...baseCard, securitySchemes: { google }, securityRequirements: [scoped] },
    tampered: { ...baseCard, securitySchemes: { google }, securityRequirements: [scopeFree, scoped] },
    canonical: replaced(scopedCanonical, ['[{"schemes":', '[{"schemes":{"google":{}}},{"schemes":']),
    expected: legacy(["securityRequirements[0]"], "uncovered"),
  },
  {
    name: "attack-second-flow",
    description:
      "A second flow with another token URL was added. The SDK looks at the first member of a oneof only.",
    rule: ["H-14", "M-7"],
    signed: withFlow(clientCredentials),
    tampered: withFlow(clientCredentials, { password: { tokenUrl: evilTokenUrl } }),
    canonical: replaced(scopedCanonical, [
      `"tokenUrl":"${tokenUrl}"}}`,
      `"tokenUrl":"${tokenUrl}"},"password":{"tokenUrl":"${evilTokenUrl}"}}`,
    ]),
    representable: false,
    expected: always(refused("card-invalid")),
  },
  {
    name: "attack-second-scheme-member",
    description: "A second kind of scheme was added under the same name.",
    rule: ["H-14", "M-7"],
    signed: {
      ...baseCard,
      securitySchemes: { key: { httpAuthSecurityScheme: { scheme: "bearer" } } },
      securityRequirements: [{ schemes: { key: { list: ["read"] } } }],
    },
    tampered: {
      ...baseCard,
      securitySchemes: {
        key: {
          httpAuthSecurityScheme: { scheme: "bearer" },
          openIdConnectSecurityScheme: { openIdConnectUrl: "https://login.evil.example" },
        },
      },
      securityRequirements: [{ schemes: { key: { list: ["read"] } } }],
    },
    canonical: baseWithSecurity(
      '{"key":{"httpAuthSecurityScheme":{"scheme":"bearer"},"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://login.evil.example"}}}',
      '[{"schemes":{"key":{"list":["read"]}}}]',
    ),
    representable: false,
    expected: always(refused("card-invalid")),
  },
  {
    name: "attack-both-spellings",
    description:
      "`token_url` was added beside `tokenUrl`. The SDK reads the one, and other parsers the other.",
    rule: ["H-14", "M-7"],
    signed: withFlow(clientCredentials),
    tampered: withFlow({
      clientCredentials: { ...clientCredentials.clientCredentials, token_url: evilTokenUrl },
    }),
    canonical: { fault: "both-spellings" },
    expected: always(refused("both-spellings")),
  },
  {
    name: "attack-replaced-token-url",
    description:
      "Signed as the SDK's types ask for it: no scheme is protected, and the token URL was replaced.",
    signed: { ...baseCard, securitySchemes: { google }, securityRequirements: [scoped] },
    tampered: withFlow({
      clientCredentials: { ...clientCredentials.clientCredentials, tokenUrl: evilTokenUrl },
    }),
    as: "typed",
    canonical: replaced(scopedCanonical, [tokenUrl, evilTokenUrl]),
    expected: always(mismatch, { "js-1": refusedBy("js-1", "uncovered", kid, "ES256", ["securitySchemes"]) }),
  },
  {
    name: "attack-stripped-mtls-scheme",
    description:
      "`mtlsSecurityScheme` is an empty message, so the SDK does not sign it. The scheme was taken out, and the requirement that names it was left.",
    signed: {
      ...lossyCard,
      securitySchemes: { google, client: { mtlsSecurityScheme: {} } },
      securityRequirements: [{ schemes: { google: { list: ["read"] }, client: {} } }],
    },
    tampered: {
      ...lossyCard,
      securitySchemes: { google },
      securityRequirements: [{ schemes: { google: { list: ["read"] }, client: {} } }],
    },
    canonical: replaced(scopedCanonical, noTags, ['{"google":{"list"', '{"client":{},"google":{"list"']),
    expected: legacy(["securityRequirements[0].schemes.client", "skills[0].tags"], "uncovered"),
  },
  {
    name: "attack-stripped-mtls-minimum-security",
    description:
      "The same, and the requirement does not name it any more: nothing is left to see. A policy that knows what it must find refuses it.",
    signed: {
      ...lossyCard,
      securitySchemes: { google, client: { mtlsSecurityScheme: {} } },
      securityRequirements: [{ schemes: { google: { list: ["read"] }, client: {} } }],
    },
    tampered: { ...lossyCard, securitySchemes: { google }, securityRequirements: [scoped] },
    canonical: replaced(scopedCanonical, noTags),
    policy: { minimumSecurity: { schemes: ["mtlsSecurityScheme"] } },
    expected: legacy(["skills[0].tags"], "security-too-weak"),
  },
  {
    name: "attack-without-trace",
    description:
      "Scheme and requirement were taken out, and the SDK had signed neither. What is left is a card without security, properly signed: with `strict` alone no verifier can tell. What helps is a policy that demands security (the next one), or a memory of the card that was there before. Who enables a profile of signers that lose both must not take a card without them for whole.",
    signed: {
      ...baseCard,
      securitySchemes: { client: { mtlsSecurityScheme: {} } },
      securityRequirements: [{ schemes: { client: {} } }],
    },
    tampered: bareCard,
    canonical: bareWith(),
    expected: doubted(kid, "ES256", "securityRequirements", "securitySchemes"),
  },
  {
    name: "attack-without-trace-minimum-security",
    description: "The same under a policy that demands that callers be asked for credentials.",
    signed: {
      ...baseCard,
      securitySchemes: { client: { mtlsSecurityScheme: {} } },
      securityRequirements: [{ schemes: { client: {} } }],
    },
    tampered: bareCard,
    canonical: bareWith(),
    policy: { minimumSecurity: { requirements: true } },
    expected: {
      ...doubted(kid, "ES256", "securityRequirements", "securitySchemes"),
      strict: refusedBy("strict", "security-too-weak", kid, "ES256"),
      raw: refusedBy("strict", "security-too-weak", kid, "ES256"),
    },
  },
  {
    name: "attack-stripped-schemes-typed-card",
    description:
      "Signed as the SDK's types ask for it, so that no scheme is protected; all schemes were taken out, and the requirement was left, which names what is not declared.",
    signed: { ...baseCard, securitySchemes: { google }, securityRequirements: [scoped] },
    tampered: { ...bareCard, securityRequirements: [scoped] },
    as: "typed",
    canonical: bareWith([
      '"skills":',
      '"securityRequirements":[{"schemes":{"google":{"list":["read"]}}}],"skills":',
    ]),
    expected: doubted(kid, "ES256", "securitySchemes"),
  },
  {
    name: "attack-stripped-requirement-skill",
    description:
      "The card's requirement without scopes was taken out, and a skill still names the scheme: it says nothing of what the card demands.",
    signed: {
      ...baseCard,
      securitySchemes: { google },
      securityRequirements: [scopeFree],
      skills: baseCard.skills.map((skill) => ({ ...skill, securityRequirements: [scoped] })),
    },
    tampered: {
      ...bareCard,
      securitySchemes: { google },
      skills: baseCard.skills.map((skill) => ({ ...skill, securityRequirements: [scoped] })),
    },
    canonical: replaced(baseWithSecurity(googleCanonical), [
      '"name":"Forecast",',
      '"name":"Forecast","securityRequirements":[{"schemes":{"google":{"list":["read"]}}}],',
    ]),
    expected: doubted(kid, "ES256", "securityRequirements"),
  },
];

/** What `@a2a-js/sdk` signs, and what can be done to it so that it still accepts it. */
export async function jsSdkCases(book: SignatureBook): Promise<readonly VectorCase[]> {
  return Promise.all(cases.map((each) => finish(each, book)));
}

async function finish(each: SdkCase, book: SignatureBook): Promise<VectorCase> {
  const as = each.as ?? "json";
  const card = each.tampered ?? each.signed;
  const made = [await signByJsSdk(each.signed, as, book)];
  if (!(await jsSdkAccepts(card, made, as))) {
    throw new Error(`${each.name}: the SDK does not accept what it should`);
  }
  const { signed: _, tampered: __, as: ___, ...rest } = each;
  return { ...rest, rule: each.rule ?? ["M-7"], card, made, signedBy: jsSdk, acceptedBy: [jsSdk] };
}
