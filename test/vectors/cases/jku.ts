import type { JsonObject } from "@bufbuild/protobuf";
import { baseCard } from "../base-card.ts";
import { publicJwk } from "../test-keys.ts";
import type { NetworkAnswer, Vector } from "../vector.ts";
import { es256Header, type VectorCase } from "../vector-case.ts";
import { always, refused, verified } from "../verdicts.ts";

const cardUrl = "https://agent.example.com/.well-known/agent-card.json";
const ownKeys = "https://agent.example.com/.well-known/jwks.json";

function keySet(...keys: readonly JsonObject[]): NetworkAnswer {
  return {
    status: 200,
    headers: { "content-type": "application/jwk-set+json" },
    body: JSON.stringify({ keys }),
  };
}

const wholeSet = keySet(publicJwk("es256-1"));

function withKeySet(
  name: string,
  description: string,
  jku: string,
  network: Readonly<Record<string, NetworkAnswer>>,
  asked: readonly string[],
  expected: Vector["expected"],
  more: Partial<VectorCase> = {},
): VectorCase {
  return {
    name,
    description,
    rule: ["M-2", "M-4", "M-5", "§8.4.2"],
    card: baseCard,
    signatures: [{ key: "es256-1", header: { ...es256Header, jku } }],
    keys: [],
    url: cardUrl,
    policy: { jku: {} },
    jwks: network,
    asked,
    expected,
    ...more,
  };
}

const good = always(verified("es256-1", "ES256"));
const refusedFor = (reason: string): Vector["expected"] => always(refused(reason, "es256-1", "ES256"));

/** Where keys may come from, and which URLs are asked. */
export const jkuCases: readonly VectorCase[] = [
  withKeySet(
    "jku-same-origin",
    "The key set is at the origin of the card.",
    ownKeys,
    { [ownKeys]: wholeSet },
    [ownKeys],
    good,
  ),
  withKeySet(
    "jku-allowed-host",
    "The key set is at a host of the policy.",
    "https://keys.example.org/agents.json",
    { "https://keys.example.org/agents.json": wholeSet },
    ["https://keys.example.org/agents.json"],
    good,
    { policy: { jku: { hosts: ["keys.example.org"] } } },
  ),
  withKeySet(
    "jku-off-host",
    "The key set is at a host of the attacker, who has signed with a key in it. It is not asked.",
    "https://keys.evil.example/jwks.json",
    { "https://keys.evil.example/jwks.json": wholeSet },
    [],
    refusedFor("jku-not-allowed"),
  ),
  withKeySet(
    "jku-subdomain",
    "A host below that of the card is another origin.",
    "https://evil.agent.example.com/jwks.json",
    { "https://evil.agent.example.com/jwks.json": wholeSet },
    [],
    refusedFor("jku-not-allowed"),
  ),
  withKeySet(
    "jku-other-port",
    "Another port is another origin.",
    "https://agent.example.com:8443/jwks.json",
    { "https://agent.example.com:8443/jwks.json": wholeSet },
    [],
    refusedFor("jku-not-allowed"),
  ),
  withKeySet(
    "jku-user-info",
    "The host of the card stands where a user's name goes: the URL is that of the attacker.",
    "https://agent.example.com@evil.example/jwks.json",
    {
      "https://agent.example.com@evil.example/jwks.json": wholeSet,
      "https://evil.example/jwks.json": wholeSet,
    },
    [],
    refusedFor("jku-not-allowed"),
  ),
  withKeySet(
    "jku-http",
    "The key set is at the card's host, but without TLS.",
    "http://agent.example.com/.well-known/jwks.json",
    { "http://agent.example.com/.well-known/jwks.json": wholeSet },
    [],
    refusedFor("jku-not-allowed"),
  ),
  withKeySet(
    "jku-data-url",
    "The key set is in the URL.",
    `data:application/json,${encodeURIComponent(wholeSet.body)}`,
    {},
    [],
    refusedFor("jku-not-allowed"),
  ),
  withKeySet(
    "jku-redirect",
    "The card's host sends on to the attacker's (it may have an open redirect). That host is not asked.",
    ownKeys,
    {
      [ownKeys]: { status: 302, headers: { location: "https://keys.evil.example/jwks.json" }, body: "" },
      "https://keys.evil.example/jwks.json": wholeSet,
    },
    [ownKeys],
    refusedFor("jwks-unavailable"),
  ),
  withKeySet(
    "jku-not-found",
    "The key set is not there.",
    ownKeys,
    { [ownKeys]: { status: 404, headers: {}, body: "" } },
    [ownKeys],
    refusedFor("jwks-unavailable"),
  ),
  withKeySet(
    "jku-not-a-key-set",
    "What stands there is no key set.",
    ownKeys,
    { [ownKeys]: { status: 200, headers: { "content-type": "text/html" }, body: "<h1>Welcome</h1>" } },
    [ownKeys],
    refusedFor("jwks-unavailable"),
  ),
  withKeySet(
    "jku-too-large",
    "The key set is larger than the policy allows.",
    ownKeys,
    { [ownKeys]: { ...wholeSet, body: wholeSet.body.replace("{", `{"filler":"${"x".repeat(2000)}",`) } },
    [ownKeys],
    refusedFor("jwks-unavailable"),
    { policy: { jku: { maxBytes: 1024 } } },
  ),
  withKeySet(
    "jku-kid-not-in-set",
    "The key set does not have the key.",
    ownKeys,
    { [ownKeys]: keySet(publicJwk("es256-2")) },
    [ownKeys],
    refusedFor("key-unknown"),
  ),
  withKeySet(
    "jku-key-revoked",
    "The key set says that the key was revoked.",
    ownKeys,
    { [ownKeys]: keySet(publicJwk("es256-1", { revoked: true })) },
    [ownKeys],
    refusedFor("key-revoked"),
  ),
  withKeySet(
    "jku-key-expired",
    "The key set says that the key has expired.",
    ownKeys,
    { [ownKeys]: keySet(publicJwk("es256-1", { exp: 1_735_689_600 })) },
    [ownKeys],
    refusedFor("key-expired"),
  ),
  withKeySet(
    "jku-not-enabled",
    "The policy lets no key set be fetched.",
    ownKeys,
    { [ownKeys]: wholeSet },
    [],
    refusedFor("key-unknown"),
    { policy: {} },
  ),
  withKeySet(
    "jku-key-is-trusted",
    "The key is trusted already: the `jku` of another host does not matter and is not asked.",
    "https://keys.evil.example/jwks.json",
    {},
    [],
    good,
    { keys: [publicJwk("es256-1")] },
  ),
  withKeySet(
    "jku-unprotected",
    "`jku` stands only in the unprotected header, which anybody may change.",
    "",
    { [ownKeys]: wholeSet },
    [],
    refusedFor("key-unknown"),
    { signatures: [{ key: "es256-1", header: es256Header, unprotected: { jku: ownKeys } }] },
  ),
  withKeySet(
    "foreign-origin",
    "A valid card, served by somebody else: its `jku` is not of the origin that served it. Not even the true owner's is asked.",
    ownKeys,
    { [ownKeys]: wholeSet },
    [],
    refusedFor("jku-not-allowed"),
    { url: "https://mirror.example.net/.well-known/agent-card.json" },
  ),
  {
    name: "foreign-origin-trusted-key",
    description:
      "A valid card, served by somebody else, and its key is trusted wherever a card comes from: it is the signer who is trusted, not the messenger.",
    rule: ["M-3", "M-4"],
    card: baseCard,
    url: "https://mirror.example.net/.well-known/agent-card.json",
  },
];
