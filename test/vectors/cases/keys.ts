import type { JsonObject } from "@bufbuild/protobuf";
import { baseCard } from "../base-card.ts";
import { publicJwk } from "../test-keys.ts";
import type { Vector } from "../vector.ts";
import { es256, type VectorCase } from "../vector-case.ts";
import { always, refused, verified } from "../verdicts.ts";

/** Seconds since 1970 long before and long after the `now` of all vectors. */
const past = 1_735_689_600;
const future = 32_503_680_000;

function trusting(
  name: string,
  description: string,
  rule: readonly string[],
  keys: readonly JsonObject[],
  expected: Vector["expected"],
  policy: JsonObject = {},
): VectorCase {
  return { name, description, rule, card: baseCard, keys, expected, policy };
}

const es256Verified = always(verified("es256-1", "ES256"));
const refusedFor = (reason: string): Vector["expected"] => always(refused(reason, "es256-1", "ES256"));

/** Which key may verify, and when. */
export const keyCases: readonly VectorCase[] = [
  trusting(
    "key-expired",
    "The key has expired.",
    ["M-4", "§8.4.3"],
    [publicJwk("es256-1", { exp: past })],
    refusedFor("key-expired"),
  ),
  trusting(
    "key-not-expired",
    "The key has a time, and it has come.",
    ["M-4"],
    [publicJwk("es256-1", { nbf: past, exp: future })],
    es256Verified,
  ),
  trusting(
    "key-not-yet-valid",
    "The key does not count yet.",
    ["M-4"],
    [publicJwk("es256-1", { nbf: future })],
    refusedFor("key-not-yet-valid"),
  ),
  trusting(
    "key-revoked",
    "The key says itself that it was revoked.",
    ["M-4", "§8.4.3"],
    [publicJwk("es256-1", { revoked: { revoked_at: past, reason: "compromised" } })],
    refusedFor("key-revoked"),
  ),
  trusting(
    "kid-revoked",
    "The policy has revoked the key by its `kid`.",
    ["M-4", "§8.4.3"],
    [publicJwk("es256-1")],
    refusedFor("key-revoked"),
    { revoked: ["es256-1"] },
  ),
  {
    ...trusting(
      "key-rotation",
      "The old key has expired, and the new one has signed, too.",
      ["M-4", "§8.4.3"],
      [publicJwk("es256-1", { exp: past }), publicJwk("es256-2")],
      always(verified("es256-2", "ES256")),
    ),
    signatures: [es256, { key: "es256-2", header: { alg: "ES256", kid: "es256-2", typ: "JOSE" } }],
  },
  trusting(
    "key-for-encryption",
    "The key is for encryption (`use`).",
    ["M-5", "RFC 7517 §4.2"],
    [publicJwk("es256-1", { use: "enc" })],
    refusedFor("key-mismatch"),
  ),
  trusting(
    "key-operations",
    "The key is for something else (`key_ops`).",
    ["M-5", "RFC 7517 §4.3"],
    [publicJwk("es256-1", { key_ops: ["deriveKey"] })],
    refusedFor("key-mismatch"),
  ),
  trusting(
    "key-algorithm",
    "The key says which algorithm it is for, and that is another one.",
    ["M-5", "RFC 7517 §4.4"],
    [publicJwk("es256-1", { alg: "ES384" })],
    refusedFor("key-mismatch"),
  ),
  {
    ...trusting(
      "key-too-weak",
      "RSA with 1024 bits.",
      ["M-5", "RFC 7518 §3.3"],
      [publicJwk("rsa-1024")],
      always(refused("key-mismatch", "rsa-1024", "RS256")),
    ),
    signatures: [{ key: "rsa-1024", header: { alg: "RS256", kid: "rsa-1024", typ: "JOSE" } }],
  },
  {
    ...trusting(
      "key-of-the-same-name",
      "Two keys have the same `kid`; the one that has signed is the second.",
      ["M-3", "RFC 7517 §4.5"],
      [{ ...publicJwk("es256-2"), kid: "es256-1" }, publicJwk("es256-1")],
      es256Verified,
    ),
  },
];
