import { isShowable } from "@a2a-connect/core";
import { SigningError } from "../signing-error.ts";

/** Longest key id, in UTF-16 code units: verifiers look no further. */
const maxLength = 256;

/**
 * The id of a key that signs or verifies: every verifier can look for it, and show it.
 *
 * @throws SigningError when it is empty, too long, or has what is not to be seen
 */
export function checkKeyId(kid: string): string {
  if (kid !== "" && isShowable(kid, maxLength)) return kid;
  throw new SigningError(
    `the id of the key (kid) is empty, has control characters, or more than ${maxLength} characters`,
    "choose a short name, such as 2026-summer, or leave it away: then it is the key's thumbprint",
  );
}
