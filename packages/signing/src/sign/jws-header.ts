import { isLoopbackHost } from "@a2a-connect/core";
import type { JsonObject } from "@bufbuild/protobuf";
import { CardTextError } from "../canonical/card-text-error.ts";
import { readCardText } from "../canonical/read-card-text.ts";
import { writeCanonical } from "../canonical/write-canonical.ts";
import { encodeBase64url } from "../jws/base64url.ts";
import { maxJkuLength } from "../keys/jku.ts";
import { SigningError } from "../signing-error.ts";
import type { CardSigner } from "./sign-options.ts";

const encoder = new TextEncoder();

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
  return encodeBase64url(encoder.encode(JSON.stringify(header)));
}

/**
 * Checks the URL by which signatures are to name a key set: https, or http on this machine; without credentials.
 *
 * @throws SigningError when no verifier would ask there
 */
export function assertKeySetUrl(jku: string): void {
  const url = jku.length <= maxJkuLength && jku.isWellFormed() ? URL.parse(jku) : null;
  if (url === null)
    throw new SigningError(
      "the key set is named by what is no URL (jku)",
      "give an absolute URL, such as https://agents.example.org/.well-known/jwks.json",
    );
  const isLocal = url.protocol === "http:" && isLoopbackHost(url.hostname);
  if (url.protocol !== "https:" && !isLocal) {
    throw new SigningError(
      "the URL of the key set is not https (jku)",
      "serve the key set by https; http is for this machine alone (localhost)",
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new SigningError(
      "the URL of the key set has a user name or password in it (jku)",
      "everybody can read it there: serve public keys without",
    );
  }
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
