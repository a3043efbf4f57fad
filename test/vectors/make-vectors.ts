import { createHash } from "node:crypto";
import { AgentCardSchema } from "@a2a-connect/proto";
import { fromJsonString, toBinary } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import canonicalize from "canonicalize";
import { baseCanonical } from "./base-card.ts";
import { emptyValueCases } from "./cases/empty-values.ts";
import { jkuCases } from "./cases/jku.ts";
import { jsSdkCases } from "./cases/js-sdk.ts";
import { keyCases } from "./cases/keys.ts";
import { pythonSdkCases } from "./cases/python-sdk.ts";
import { rawCases } from "./cases/raw.ts";
import { securityCases } from "./cases/security.ts";
import { signatureCases } from "./cases/signatures.ts";
import { tamperingCases } from "./cases/tampering.ts";
import { textCases } from "./cases/text.ts";
import { textFaultCases } from "./cases/text-faults.ts";
import { makeSignature } from "./sign-vector.ts";
import type { SignatureBook } from "./signature-book.ts";
import { publicJwk } from "./test-keys.ts";
import type { CardSignature, Vector } from "./vector.ts";
import { es256, type VectorCase } from "./vector-case.ts";
import { always, verified } from "./verdicts.ts";

/** When all vectors are looked at: `now` of none of them matters, as keys expire long before or long after. */
const now = "2026-06-01T00:00:00.000Z";

/**
 * All vectors, by name. Canonical texts are those that stand in the cases, by hand; signatures are made by Node, `jose` and the
 * SDKs. Nothing here is from `packages/signing`, which is what the vectors are for.
 */
export async function makeVectors(book: SignatureBook): Promise<ReadonlyMap<string, Vector>> {
  const cases = [
    ...emptyValueCases,
    ...securityCases,
    ...textCases,
    ...textFaultCases,
    ...signatureCases,
    ...keyCases,
    ...jkuCases,
    ...tamperingCases,
    ...rawCases,
    ...(await jsSdkCases(book)),
    ...pythonSdkCases(),
  ];
  const vectors = new Map<string, Vector>();
  for (const each of cases) {
    if (vectors.has(each.name)) {
      throw new Error(`two cases are called ${each.name}`);
    }
    vectors.set(each.name, await makeVector(each, book));
  }
  return vectors;
}

async function makeVector(from: VectorCase, book: SignatureBook): Promise<Vector> {
  const canonical = typeof from.canonical === "object" ? undefined : (from.canonical ?? baseCanonical);
  if (canonical !== undefined && canonicalize(JSON.parse(canonical)) !== canonical) {
    throw new Error(`${from.name}: the canonical text is not what RFC 8785 makes of it`);
  }
  const signatures = from.made ?? (await makeSignatures(from, canonical, book));
  const card = from.card && {
    ...from.card,
    ...(signatures.length > 0 && { signatures: signatures.map(toJson) }),
  };
  const cardText = from.cardText?.replaceAll("$SIGNATURES", () => JSON.stringify(signatures));
  const text = cardText ?? JSON.stringify(card);
  const representable = canonical !== undefined && (from.representable ?? from.card !== undefined);
  return {
    description: from.description,
    rule: from.rule,
    ...(card !== undefined && { card }),
    ...(cardText !== undefined && { cardText }),
    ...(from.cardTextRepeat !== undefined && { cardTextRepeat: from.cardTextRepeat }),
    ...(representable && {
      protobuf: base64Encode(toBinary(AgentCardSchema, fromJsonString(AgentCardSchema, text))),
    }),
    canonical: canonical ?? null,
    ...(typeof from.canonical === "object" && { canonicalFault: from.canonical.fault }),
    sha256: canonical === undefined ? null : createHash("sha256").update(canonical).digest("hex"),
    keys: { keys: from.keys ?? defaultKeys },
    ...(from.url !== undefined && { url: from.url }),
    now,
    policy: from.policy ?? {},
    ...(from.jwks !== undefined && { jwks: from.jwks }),
    ...(from.asked !== undefined && { asked: from.asked }),
    ...(from.signedBy !== undefined && { signedBy: from.signedBy }),
    ...(from.acceptedBy !== undefined && { acceptedBy: from.acceptedBy }),
    expected: from.expected ?? always(verified("es256-1", "ES256")),
  };
}

const defaultKeys = (["es256-1", "es256-2", "es384-1", "ed25519-1", "rsa-1"] as const).map((kid) =>
  publicJwk(kid),
);

async function makeSignatures(
  from: VectorCase,
  canonical: string | undefined,
  book: SignatureBook,
): Promise<readonly CardSignature[]> {
  const made: CardSignature[] = [];
  if (from.cardTextRepeat === undefined) {
    for (const recipe of from.signatures ?? [es256]) {
      made.push(await makeSignature(recipe, canonical ?? baseCanonical, book));
    }
  }
  return made;
}

function toJson({ header, ...rest }: CardSignature) {
  return header === undefined ? { ...rest } : { ...rest, header };
}
