import { readFileSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import { baseCanonical, baseWith, baseWithSecurity, replaced } from "../base-card.ts";
import type { CardSignature, Vector } from "../vector.ts";
import type { VectorCase } from "../vector-case.ts";
import { always, refused, refusedBy, verified } from "../verdicts.ts";

/** The last one that writes by `json.dumps` is 1.1.3; 1.0.3 does it as all of 1.0 do. 1.1.4 and later have RFC 8785. */
const versions = { dumps: "1.0.3", jcs: "1.3.0" } as const;

type Signed = Readonly<Record<string, { readonly signature: CardSignature; readonly payload: string }>>;

function read(file: string) {
  return JSON.parse(readFileSync(new URL(`../python/${file}`, import.meta.url), "utf8"));
}

const cards: Readonly<Record<string, { readonly card: JsonObject }>> = read("cards.json");

const kid = "es256-1";
const mismatch = refused("signature-mismatch", kid, "ES256");
const strictly = always(verified(kid, "ES256"));

function only(profile: "js-1" | "python-1", uncovered: readonly string[] = []): Vector["expected"] {
  return always(mismatch, { [profile]: verified(kid, "ES256", profile, uncovered) });
}

function both(uncovered: readonly string[], reason?: string): Vector["expected"] {
  const by = (profile: "js-1" | "python-1") =>
    reason === undefined
      ? verified(kid, "ES256", profile, uncovered)
      : refusedBy(profile, reason, kid, "ES256", uncovered);
  return always(mismatch, { "js-1": by("js-1"), "python-1": by("python-1") });
}

interface PythonCase {
  /** In `python/cards.json`. */
  readonly name: string;
  readonly description: string;
  readonly canonical: string;
  /** The text of the card, where JSON.stringify would write another one. */
  readonly cardText?: string;
  readonly expected: Readonly<Record<keyof typeof versions, Vector["expected"]>>;
}

const ext = (params: string): string =>
  baseWith(['{"streaming":true}', `{"extensions":[{"params":${params},"uri":"https://example.com/ext"}]}`]);

const typJwt = always(refused("typ-not-allowed", kid, "ES256"), {
  "js-1": verified(kid, "ES256", "js-1"),
  "python-1": verified(kid, "ES256", "python-1"),
});

const googleCanonical =
  '{"google":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{"read":"May read."},"tokenUrl":"https://login.example.com/token"}}}}}';

const emptyParams = ["list", "null", "object", "text"].map(
  (name) => `capabilities.extensions[0].params.${name}`,
);

const cases: readonly PythonCase[] = [
  {
    name: "plain",
    description: "A header without `typ`, for which PyJWT writes JWT.",
    canonical: baseCanonical,
    expected: { dumps: typJwt, jcs: typJwt },
  },
  {
    name: "non-ascii",
    description: "`json.dumps` writes what is not ASCII as escapes; RFC 8785 does not.",
    canonical: baseWith(
      ['"Weather Agent"', '"Wetterdienst K\u00f6ln \u{1F326}"'],
      ['"Tells the weather."', '"<&> \u2028 \u007f \\u0007"'],
    ),
    expected: { dumps: only("python-1"), jcs: strictly },
  },
  {
    name: "key-order",
    description:
      "`json.dumps` orders names by code points, RFC 8785 by UTF-16 code units; and numbers in `params` are floats.",
    canonical: ext('{"a":4,"\u20AC":3,"\u{1F600}":2,"\uFB33":1}'),
    expected: { dumps: only("python-1"), jcs: strictly },
  },
  {
    name: "numbers",
    description: "Numbers as Python writes floats (1.0, 1e-07, 1e+16, -0.0), and as RFC 8785 does.",
    canonical: ext(
      '{"n":[1e+21,1e-7,10000000000000000,0,4.5,9007199254740992,0.1,1e+22,1.5e+300,5e-324,123456789.125,0.00001,0.0001]}',
    ),
    cardText: `{"capabilities":{"extensions":[{"params":{"n":[1e21,1e-7,1e16,-0.0,4.5,9007199254740993,0.1,1e22,1.5e300,5e-324,123456789.125,1e-5,0.0001]},"uri":"https://example.com/ext"}]},${baseCanonical.replace('{"capabilities":{"streaming":true},', "").slice(0, -1)},"signatures":$SIGNATURES}`,
    expected: { dumps: only("python-1"), jcs: strictly },
  },
  {
    name: "empty-values",
    description: "Whatever is empty is left out, inside `params`, too.",
    canonical: replaced(ext('{"kept":1,"list":[],"null":null,"object":{},"text":""}'), [
      '"tags":["weather"]',
      '"tags":[]',
    ]),
    expected: {
      dumps: only("python-1", [...emptyParams, "skills[0].tags"]),
      jcs: only("js-1", [...emptyParams, "skills[0].tags"]),
    },
  },
  {
    name: "scope-free",
    description: "A requirement without scopes is left out, so the signature does not count.",
    canonical: baseWithSecurity(googleCanonical, '[{"schemes":{"google":{}}}]'),
    expected: {
      dumps: both(["securityRequirements"], "uncovered"),
      jcs: both(["securityRequirements"], "uncovered"),
    },
  },
  {
    name: "scoped",
    description: "A requirement with scopes is protected.",
    canonical: replaced(baseWithSecurity(googleCanonical, '[{"schemes":{"google":{"list":["read"]}}}]'), [
      '"tags":["weather"]',
      '"tags":[]',
    ]),
    expected: { dumps: both(["skills[0].tags"]), jcs: both(["skills[0].tags"]) },
  },
];

/** What `a2a-sdk` of Python has signed: `python/sign.py` says how. */
export function pythonSdkCases(): readonly VectorCase[] {
  return (["dumps", "jcs"] as const).flatMap((kind) => {
    const version = versions[kind];
    const signed: Signed = read(`signed-${version}.json`).cards;
    return cases.map((each) => ({
      name: `python-${version}-${each.name}`,
      description: `Signed by a2a-sdk ${version} of Python. ${each.description}`,
      rule: ["M-7"],
      ...(each.cardText === undefined
        ? { card: present(cards[each.name]).card }
        : { cardText: each.cardText, representable: true }),
      canonical: each.canonical,
      made: [present(signed[each.name]).signature],
      signedBy: `a2a-sdk ${version} (Python)`,
      acceptedBy: [`a2a-sdk ${version} (Python)`],
      expected: each.expected[kind],
    }));
  });
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) {
    throw new Error("run python/sign.py: a card is missing");
  }
  return value;
}
