import { readProtectedHeader } from "../jws/protected-header.ts";
import { isSameAlgorithm } from "../keys/algorithms.ts";

/**
 * Signatures with one more. It takes the place of those that the same key has made before: they are of another card, or say the
 * same. Those of other keys stay, so that keys can be rotated. A key is told by its id and its algorithm: nothing else stands there.
 *
 * @param protectedOf the member `protected` of an entry, whatever it is
 */
export function addSignature<Entry>(
  entries: readonly Entry[],
  added: Entry,
  protectedOf: (entry: Entry) => unknown,
): readonly Entry[] {
  const own = readSigner(protectedOf(added));
  const isOwn = (entry: Entry) => {
    const signer = readSigner(protectedOf(entry));
    if (own === undefined || signer === undefined) return false;
    return own.kid === signer.kid && isSameAlgorithm(own.alg, signer.alg);
  };
  const others = entries.filter((entry) => !isOwn(entry));
  const first = entries.findIndex(isOwn); // all before it stay
  return others.toSpliced(first === -1 ? others.length : first, 0, added);
}

function readSigner(protectedText: unknown): { readonly kid: unknown; readonly alg: unknown } | undefined {
  if (typeof protectedText !== "string") return undefined;
  const read = readProtectedHeader(protectedText);
  return read.ok ? { kid: read.header["kid"], alg: read.header["alg"] } : undefined;
}
