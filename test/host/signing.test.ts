// Each of several agents signs its own card with its own key, and says where that key is.
import { serve } from "@a2a-connect/node";
import { type CardSigning, type CardSigningKey, createMemoryTaskStore } from "@a2a-connect/server";
import { type VerificationKey, verifyCard } from "@a2a-connect/signing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Name, namedAgent, names } from "./hosted-agents.ts";

const parameters = { name: "ECDSA", namedCurve: "P-256" };

async function signWith(kid: string): Promise<CardSigning> {
  const { privateKey } = await crypto.subtle.generateKey(parameters, true, ["sign", "verify"]);
  const { kty = "", crv = "", x = "", y = "", d = "" } = await crypto.subtle.exportKey("jwk", privateKey);
  const key: CardSigningKey["key"] = { kty, crv, x, y, d, kid };
  return { keys: [{ key }] };
}

async function start() {
  const [alpha, beta] = await Promise.all(["key-of-alpha", "key-of-beta"].map(signWith));
  if (alpha === undefined || beta === undefined) throw new Error("there are two");
  const store = createMemoryTaskStore;
  const extendedCard = { open: true, find: () => ({ name: "Extended" }) };
  return serve(
    {
      alpha: { agent: namedAgent("alpha"), store: store(), signing: alpha, extendedCard },
      beta: { agent: namedAgent("beta"), store: store(), signing: beta, extendedCard },
    },
    { default: "beta" },
  );
}

let served: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  served = await start();
});
afterAll(() => served.close({ graceMs: 0 }));

const readCard = async (url: string) => (await fetch(`${url}/.well-known/agent-card.json`)).text();

async function readKeys(url: string): Promise<readonly VerificationKey[]> {
  return (await (await fetch(`${url}/.well-known/jwks.json`)).json()).keys;
}

it.each(names)(
  "the card of %s is verified with the key set below its path, and with no other's",
  async (name) => {
    const { url } = served.agents[name];
    const other = served.agents[names.find((each) => each !== name) ?? name].url;
    const card = await readCard(url);
    const [entry] = JSON.parse(card).signatures;
    const header = JSON.parse(Buffer.from(entry.protected, "base64url").toString());
    expect(header).toMatchObject({ kid: `key-of-${name}`, jku: `${url}/.well-known/jwks.json` });
    expect(await verifyCard(card, { keys: await readKeys(url) })).toMatchObject({ verified: true });
    expect(await verifyCard(card, { keys: await readKeys(other) })).toMatchObject({ verified: false });
  },
);

it.each(names)("the extended card of %s is signed with its own key over every way", async (name: Name) => {
  const keys = await readKeys(served.agents[name].url);
  for (const path of [`/agents/${name}/rest/extendedAgentCard`, `/rest/${name}/extendedAgentCard`]) {
    const card = await (await fetch(served.url + path, { headers: { "a2a-version": "1.0" } })).text();
    expect([path, (await verifyCard(card, { keys })).verified]).toEqual([path, true]);
  }
});

it("the default's card at the root is the very same", async () => {
  expect(await readCard(served.url)).toBe(await readCard(served.agents.beta.url));
});

it("the key set at the root has the keys of all, each once, for as long as any agent has it", async () => {
  const all = await Promise.all(names.map((name) => readKeys(served.agents[name].url)));
  expect(await readKeys(served.url)).toEqual(all.flat());
  const [shared, alphas, other] = await Promise.all(["shared", "own", "own"].map(signWith));
  const [key] = shared?.keys ?? [];
  if (key === undefined || alphas === undefined || other === undefined) throw new Error("there are three");
  const retiredUntil = new Date(Date.now() + 60_000);
  const store = createMemoryTaskStore;
  await using host = await serve({
    alpha: {
      agent: namedAgent("alpha"),
      store: store(),
      signing: { keys: [...alphas.keys, { ...key, retiredUntil }] },
    },
    beta: { agent: namedAgent("beta"), store: store(), signing: { keys: [...other.keys, key] } },
  });
  const keys = await readKeys(host.url);
  expect(keys.map(({ kid, exp }) => [kid, exp])).toEqual([
    ["own", undefined],
    ["shared", undefined],
    ["own", undefined],
  ]);
  expect(keys).toEqual(expect.arrayContaining([...(host.agents.beta.cards.keySet?.keys ?? [])]));
  for (const { url } of Object.values(host.agents)) {
    expect(await verifyCard(await readCard(url), { keys })).toMatchObject({ verified: true });
  }
});

it("there is no key set at the root where no agent signs", async () => {
  const agents = {
    alpha: { agent: namedAgent("alpha"), store: createMemoryTaskStore() },
    beta: { agent: namedAgent("beta"), store: createMemoryTaskStore() },
  };
  await using host = await serve(agents);
  const response = await fetch(`${host.url}/.well-known/jwks.json`);
  expect([response.status, (await response.json()).error.message]).toEqual([
    404,
    "no agent card is signed here, so there are no keys",
  ]);
});

it("a key that cannot sign lets none of the agents start, and is named", async () => {
  const signing: CardSigning = {
    keys: [{ key: { kty: "EC", crv: "P-256", x: "", y: "", d: "", kid: "broken" } }],
  };
  const agents = {
    good: { agent: namedAgent("good"), store: createMemoryTaskStore() },
    bad: { agent: namedAgent("bad"), store: createMemoryTaskStore(), signing },
  };
  await expect(serve(agents)).rejects.toThrow("broken");
});
