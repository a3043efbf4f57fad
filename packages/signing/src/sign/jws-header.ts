import type { JsonObject } from "@bufbuild/protobuf";
import { base64url } from "jose";
import { CardTextError } from "../canonical/card-text-error.ts";
import { readCardText } from "../canonical/read-card-text.ts";
import { writeCanonical } from "../canonical/write-canonical.ts";
import { assertKeySetUrl } from "../keys/key-set-url.ts";
import { SigningError } from "../signing-error.ts";
import type { CardSigner } from "./sign-options.ts";

/**
 * The `protected` member of a signature (spec §8.4.2), with its members in the order of the specification's example.
 *
 * @throws SigningError when no verifier would ask the `jku`
 */
export function encodeProtectedHeader(
  { alg, kid }: Pick<CardSigner, "alg" | "kid">,
  jku: string | undefined,
): string {
  if (jku !== undefined) assertKeySetUrl(jku);
  const header = { alg, typ: "JOSE", kid, ...(jku === undefined ? {} : { jku }) };
  return base64url.encode(JSON.stringify(header));
}

/** What counts only where it is protected, and what demands of verifiers what they do not know. */
const reserved = new Set(["alg", "typ", "kid", "jku", "crit", "b64"]);

/**
 * A copy of an unprotected header.
 *
 * @throws SigningError when it repeats a member of the protected one (RFC 7515 §7.2.1), or is no JSON that a card can have
 */
export function copyUnprotectedHeader(header: JsonObject): JsonObject {
  const twice = Object.keys(header).find((name) => reserved.has(name));
  if (twice !== undefined) {
    throw new SigningError(
      `the unprotected header has "${twice}"`,
      "leave it away: it counts in the protected header alone, where alg, typ, kid and jku are set by themselves",
    );
  }
  try {
    const text = writeCanonical(header);
    readCardText(`{"signatures":[{"header":${text}}]}`); // it must not be nested too deep where it will stand
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof CardTextError)) throw error;
    throw new SigningError(
      `the unprotected header is no JSON: ${error.message}`,
      "give a plain object of texts, finite numbers, lists and objects",
    );
  }
}
