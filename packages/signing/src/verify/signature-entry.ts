import { isObject, isShowable, shownText } from "@a2a-connect/core/internal";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { decodeBase64url, readProtectedHeader } from "../jws/jws-text.ts";
import { isSignatureAlgorithm, type SignatureAlgorithm } from "../keys/algorithms.ts";
import { maxKeyIdLength } from "../keys/key.ts";
import { isLossy, type Profile } from "../profiles/profile-card.ts";
import type { Refusal, SignatureFault } from "./faults.ts";
import type { PreparedPolicy } from "./prepared-policy.ts";

/** An entry of `signatures` whose header a policy allows: everything is known but the key. */
export interface ReadableSignature {
  /** As it stands there: it is part of what was signed. */
  readonly protectedText: string;
  readonly signature: Uint8Array<ArrayBuffer>;
  readonly alg: SignatureAlgorithm;
  readonly kid: string;
  /** What the header has there, any JSON value; undefined: nothing. */
  readonly jku: JsonValue | undefined;
  /** The policy's profiles whose signers write such a header. */
  readonly profiles: readonly Profile[];
}

/** An entry that does not count with any key. */
export interface UnreadableSignature extends Refusal {
  /** As far as they could be read, as they can be shown. */
  readonly alg: string | undefined;
  readonly kid: string | undefined;
}

/** Longest signature that is decoded, in characters: one by an RSA key of 8192 bits has 1366. */
const maxSignatureLength = 2048;

/**
 * Reads an entry of `signatures` as RFC 7515 §5.2 does (steps 1 to 7), and holds its protected header against a policy. Only
 * that header counts: what stands in the unprotected one can be changed by anybody.
 */
export function readSignatureEntry(
  entry: JsonValue,
  policy: PreparedPolicy,
): ReadableSignature | UnreadableSignature {
  const parts = readParts(entry);
  if (typeof parts === "string") {
    return { fault: "malformed-signature", problem: parts, alg: undefined, kid: undefined };
  }
  const { protectedText, signatureText, header, unprotected } = parts;
  const { alg, kid, jku } = header;
  const refused = (fault: SignatureFault, problem: string): UnreadableSignature => {
    return { fault, problem, alg: shownOrNone(alg), kid: shownOrNone(kid) };
  };
  if (!isSignatureAlgorithm(alg) || !policy.algorithms.has(alg)) {
    const name = typeof alg === "string" ? ` "${shownText(alg)}"` : "";
    const problem = `its algorithm (alg)${name} is not one of ${[...policy.algorithms].join(", ")}`;
    return refused("algorithm-not-allowed", problem);
  }
  if (Object.keys(unprotected).some((name) => Object.hasOwn(header, name))) {
    const twice = "its two headers, protected and unprotected, have a member of the same name";
    return refused("malformed-signature", `${twice} (RFC 7515 §7.2.1)`);
  }
  const signature = signatureText.length > maxSignatureLength ? undefined : decodeBase64url(signatureText);
  if (signature === undefined || signature.length === 0) {
    const wrong = "is not base64url without padding, or is longer than any signature";
    return refused("malformed-signature", `its member "signature" ${wrong}`);
  }
  const demand = ["crit", "b64"].find((name) => Object.hasOwn({ ...header, ...unprotected }, name));
  if (demand !== undefined) {
    const problem = `its header has "${demand}", so it needs an extension of JWS, and cards are signed without extensions`;
    return refused("crit-not-understood", problem);
  }
  if (typeof kid !== "string" || kid === "" || !isShowable(kid, maxKeyIdLength)) {
    const odd = `or says it with control characters, or in more than ${maxKeyIdLength} characters`;
    return refused("kid-missing", `its protected header does not say which key has signed (kid), ${odd}`);
  }
  const profiles = policy.profiles.filter((profile) => allowsTyp(profile, header));
  if (profiles.length > 0) return { protectedText, signature, alg, kid, jku, profiles };
  const problem = 'its type (typ) is not "JOSE"; "JWT" counts only with the profiles js-1 and python-1';
  return refused("typ-not-allowed", problem);
}

/** The parts of an entry, its header decoded, or what is wrong with it. */
function readParts(entry: JsonValue) {
  if (!isObject(entry)) return "it is not a JSON object";
  const { protected: protectedText, signature: signatureText, header: unprotected = null } = entry;
  if (typeof protectedText !== "string") return 'its member "protected" is missing, or not a string';
  if (typeof signatureText !== "string") return 'its member "signature" is missing, or not a string';
  if (unprotected !== null && !isObject(unprotected)) return 'its member "header" is not a JSON object';
  const header = readProtectedHeader(protectedText);
  if (typeof header === "string") return `its protected header ${header}`;
  return { protectedText, signatureText, header, unprotected: unprotected ?? {} };
}

/** `JWT` stands there because older Python SDKs sign with a library for JWTs. */
function allowsTyp(profile: Profile, { typ = "JOSE" }: JsonObject): boolean {
  const name = typeof typ === "string" ? typ.toUpperCase() : "";
  return name === "JOSE" || (name === "JWT" && isLossy(profile));
}

function shownOrNone(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? shownText(value) : undefined;
}
