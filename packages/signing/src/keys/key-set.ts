import { type JsonDefect, scanJson } from "@a2a-connect/core";
import type { VerificationKey } from "./key-types.ts";

/** The keys of a key set (RFC 7517 §5) that can be used, by their id. */
export interface KeySet {
  readonly keys: ReadonlyMap<string, readonly VerificationKey[]>;
  /** Ids of keys that are there, but with what only their owner may know: whoever reads the set can sign with them. */
  readonly exposed: ReadonlySet<string>;
}

/** Keys that are used of one set. */
const maxKeys = 100;

/** Keys that are used of those with the same id: each has to be tried. */
const maxKeysOfOneId = 4;

/** Deepest nesting that a key set has any use for. */
const maxDepth = 16;

/** Members of private and symmetric keys (RFC 7518 §6.2.2, §6.3.2, §6.4; RFC 8037 §2). */
const secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] as const;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a key set. Keys without an id, and what is no key, are passed over (RFC 7517 §5); keys with secret members do not count.
 *
 * @returns the rest of a sentence about it when it is no key set
 */
export function readKeySet(bytes: Uint8Array): KeySet | string {
  let json: unknown;
  let defect: JsonDefect | undefined;
  try {
    const text = utf8.decode(bytes);
    defect = scanJson(text, { maxDepth, duplicates: "everywhere" });
    if (defect?.kind === "too-deep") return `is nested deeper than ${maxDepth} levels`;
    json = JSON.parse(text);
  } catch {
    return bytes[0] === lessThan ? "is a web page, not a key set" : "is not JSON";
  }
  if (defect?.kind === "duplicate-member") return "has a member twice";
  const entries = isObject(json) ? json["keys"] : undefined;
  return Array.isArray(entries) ? collectKeys(entries) : 'has no list "keys"';
}

const lessThan = 0x3c;

function collectKeys(entries: readonly unknown[]): KeySet {
  const keys = new Map<string, VerificationKey[]>();
  const exposed = new Set<string>();
  let count = 0;
  for (const entry of entries) {
    if (!isKey(entry)) continue;
    if (count === maxKeys) break;
    count += 1;
    if (entry.kty === "oct" || secretMembers.some((member) => Object.hasOwn(entry, member))) {
      exposed.add(entry.kid);
      continue;
    }
    const sameId = keys.get(entry.kid);
    if (sameId === undefined) keys.set(entry.kid, [entry]);
    else if (sameId.length < maxKeysOfOneId) sameId.push(entry);
  }
  return { keys, exposed };
}

/** What its members mean, and whether they make a key, is asked when it is used. */
function isKey(entry: unknown): entry is VerificationKey {
  return (
    isObject(entry) &&
    typeof entry["kid"] === "string" &&
    entry["kid"] !== "" &&
    typeof entry["kty"] === "string"
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
