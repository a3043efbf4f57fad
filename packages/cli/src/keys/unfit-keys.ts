import { createPublicKey } from "node:crypto";
import { readVerificationKeys, type VerificationKey } from "@a2a-connect/signing";
import { type KeyJson, ownIdOf, readKeyJson } from "./key-json.ts";

/**
 * The keys of a text that are well-formed and cannot verify cards: too weak, on another curve, or by their own members for
 * something else. Public sides only.
 */
export async function findUnfitKeys(text: string): Promise<readonly VerificationKey[]> {
  const entries = readKeyJson(text) ?? [text];
  const unfit: VerificationKey[] = [];
  for (const entry of entries) {
    const own = typeof entry === "string" ? entry : JSON.stringify(entry);
    const isFit = await readVerificationKeys(own).then(
      () => true,
      () => false,
    );
    const key = isFit ? undefined : toPublicKey(entry);
    if (key !== undefined) unfit.push(key);
  }
  return unfit;
}

/** Whether there is a private key in a text. */
export function holdsPrivate(text: string): boolean {
  const keys = readKeyJson(text);
  return keys === undefined
    ? /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)
    : keys.some(({ d, k }) => d !== undefined || k !== undefined);
}

/** Members of a JWK that say what it is for, beside those that are the key. */
const purposes = ["alg", "use", "key_ops", "nbf", "exp", "revoked"] as const;

/** Undefined for what is no public or private key, such as a symmetric one. */
function toPublicKey(entry: KeyJson | string): VerificationKey | undefined {
  try {
    if (typeof entry === "string") return { ...createPublicKey(entry).export({ format: "jwk" }), kid: "" };
    const members = createPublicKey({ key: entry, format: "jwk" }).export({ format: "jwk" });
    const said = purposes.filter((name) => entry[name] !== undefined).map((name) => [name, entry[name]]);
    return { ...members, ...Object.fromEntries(said), kid: ownIdOf(entry) ?? "" };
  } catch {
    return undefined;
  }
}
