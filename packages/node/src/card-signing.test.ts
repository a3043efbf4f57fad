import { principalKey } from "@a2a-connect/core";
import {
  type AgentDefinition,
  type CardSigning,
  type Clock,
  createMemoryTaskStore,
  type LogRecord,
  systemClock,
} from "@a2a-connect/server";
import {
  canonicalSignedCard,
  createCardSigner,
  generateSigningKey,
  type VerificationKey,
  verifyCard,
} from "@a2a-connect/signing";
import type { RemoteSign } from "@a2a-connect/signing/internal";
import { startAgentHarness, wires } from "@a2a-connect/testing";
import type { Interceptor } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { get, httpVersions } from "../test-support/get.ts";
import { type ServedAgent, serve } from "./serve.ts";
import type { ServeOptions } from "./serve-options.ts";

const agent: AgentDefinition = { card: { name: "Agent", version: "1.0.0" }, execute: () => [] };
const cardPath = "/.well-known/agent-card.json";
const keySetPath = "/.well-known/jwks.json";

async function newKey(kid: string) {
  const { privateJwk, publicJwk } = await generateSigningKey({ kid });
  return { key: privateJwk, publicKey: publicJwk };
}

/** A remote signer that can be made to fail. */
async function newRemote(kid: string) {
  const { key, publicKey } = await newKey(kid);
  const local = await createCardSigner({ key });
  const sign: RemoteSign = async (input) => {
    remote.calls += 1;
    if (remote.isDown) throw new Error("the vault at 10.1.2.3 is down");
    if (remote.hangs) await new Promise(() => remote.onHang());
    return local.sign(input);
  };
  const remote = {
    isDown: false,
    hangs: false,
    onHang: () => {},
    calls: 0,
    signing: { key: sign, publicKey },
  };
  return remote;
}

async function start(signing: CardSigning | undefined, options: ServeOptions = {}, definition = agent) {
  const log: LogRecord[] = [];
  const served = await serve(definition, {
    store: createMemoryTaskStore(),
    log: (record) => log.push(record),
    ...(signing === undefined ? {} : { signing }),
    ...options,
  });
  return { served, log, [Symbol.asyncDispose]: () => served.close({ graceMs: 0 }) };
}

async function getCard({ url }: Pick<ServedAgent, "url">, headers: Record<string, string> = {}) {
  const got = await get(url + cardPath, { headers });
  const text = got.body.toString();
  return { ...got, text, json: got.status === 200 ? JSON.parse(text) : undefined };
}

async function readKeys({ url }: Pick<ServedAgent, "url">): Promise<readonly VerificationKey[]> {
  return JSON.parse((await get(url + keySetPath)).body.toString()).keys;
}

function protectedOf(json: { readonly signatures: readonly { readonly protected: string }[] }) {
  return json.signatures.map((entry) => JSON.parse(Buffer.from(entry.protected, "base64url").toString()));
}

describe.each(httpVersions)("a signed card over %s", (version) => {
  it("is verified by the keys that the server shows, and is its canonical form", async () => {
    const { key } = await newKey("one");
    await using server = await start({ keys: [{ key }] });
    const { url } = server.served;
    const got = await get(url + cardPath, { version });
    const text = got.body.toString();
    expect(canonicalSignedCard(text)).toBe(text);
    expect(await verifyCard(text, { keys: await readKeys(server.served) })).toMatchObject({
      verified: true,
      profile: "strict",
      kid: "one",
      alg: "ES256",
    });
    expect(protectedOf(JSON.parse(text))).toEqual([
      { alg: "ES256", kid: "one", typ: "JOSE", jku: url + keySetPath },
    ]);
    expect((await get(url + cardPath, { version })).headers.etag).toBe(got.headers.etag);
  });

  it("comes with a key set that may be kept, and has no secrets", async () => {
    const { key, publicKey } = await newKey("one");
    await using server = await start({ keys: [{ key }] }, { cardMaxAgeSeconds: 60 });
    const url = server.served.url + keySetPath;
    const got = await get(url, { version });
    expect(JSON.parse(got.body.toString()).keys).toMatchObject([publicKey]);
    expect(got.body.toString()).not.toContain(key.d);
    expect(got.body.toString()).not.toContain('"d"');
    expect(got.headers).toMatchObject({
      "content-type": "application/jwk-set+json",
      "cache-control": "public, max-age=60",
      vary: "accept-encoding",
    });
    const { etag = "" } = got.headers;
    const head = await get(url, { version, method: "HEAD" });
    expect([head.status, head.headers["content-length"], head.headers.etag]).toEqual([
      200,
      String(got.body.length),
      etag,
    ]);
    expect((await get(url, { version, headers: { "if-none-match": etag } })).status).toBe(304);
    expect((await get(url, { version, method: "POST" })).status).toBe(405);
  });
});

describe("how a card is signed", () => {
  it("is with every key, in their order", async () => {
    const [one, two] = await Promise.all([newKey("one"), newKey("two")]);
    await using server = await start({ keys: [one, two] });
    const { text, json } = await getCard(server.served);
    expect(protectedOf(json).map(({ kid }) => kid)).toEqual(["one", "two"]);
    const trustPolicy = { keys: [one.publicKey, two.publicKey], minSigners: 2 };
    expect((await verifyCard(text, { trustPolicy })).verified).toBe(true);
  });

  it.each<[CardSigning["jku"], string | undefined]>([
    [false, undefined],
    ["https://keys.example/set", "https://keys.example/set"],
    [true, "https://agents.example/below/.well-known/jwks.json"],
  ])("says with jku %s that the keys are at %s", async (jku, expected) => {
    const { key } = await newKey("one");
    const publicUrl = "https://agents.example/below";
    await using server = await start(
      { keys: [{ key }], ...(jku === undefined ? {} : { jku }) },
      { publicUrl },
    );
    expect(protectedOf((await getCard(server.served)).json)[0].jku).toBe(expected);
  });

  it("names the key set of the very agent, where there are several", async () => {
    const one = await newKey("one");
    await using served = await serve(
      { a: { agent, store: createMemoryTaskStore() }, b: { agent, store: createMemoryTaskStore() } },
      { signing: { keys: [one] }, trustedProxies: ["loopback"], forwardedHosts: ["public.example"] },
    );
    for (const { url } of Object.values(served.agents)) {
      const { text, json } = await getCard({ url });
      expect(protectedOf(json)[0].jku).toBe(url + keySetPath);
      expect((await verifyCard(text, { keys: await readKeys({ url }) })).verified).toBe(true);
    }
    const told = { forwarded: "host=public.example;proto=https" };
    const { json } = await getCard(served.agents.a, told);
    expect(protectedOf(json)[0].jku).toBe(`https://public.example/agents/a${keySetPath}`);
    expect(json.supportedInterfaces[0].url).toBe("https://public.example/agents/a/rpc");
  });

  it.each<[ServeOptions["forwardedHosts"], told: Record<string, string>, url: string | undefined]>([
    [["*.public.example"], { host: "a.public.example", proto: "https" }, "https://a.public.example"],
    [["*.public.example"], { host: "evil.example", proto: "https" }, undefined],
    [undefined, { host: "a.public.example", proto: "https" }, undefined],
    // Who can have such a field passed on must not get a proof for a place of his own on that host.
    [["public.example"], { host: "public.example", proto: "https" }, "https://public.example"],
    [["public.example"], { host: "public.example:8443", proto: "https" }, undefined],
    [["public.example"], { host: "public.example", proto: "http" }, undefined],
    [
      ["https://public.example:8443"],
      { host: "public.example:8443", proto: "https", prefix: "/~mallory" },
      "https://public.example:8443",
    ],
  ])("is for listed URLs only: with %j and %j below %s", async (forwardedHosts, told, url) => {
    const { key, publicKey } = await newKey("one");
    await using server = await start(
      { keys: [{ key }] },
      { trustedProxies: ["loopback"], ...(forwardedHosts === undefined ? {} : { forwardedHosts }) },
    );
    const headers = Object.fromEntries(
      Object.entries(told).map(([name, value]) => [`x-forwarded-${name}`, value]),
    );
    for (let n = 0; n < 2; n += 1) {
      const { text, json } = await getCard(server.served, headers);
      expect((await verifyCard(text, { keys: [publicKey] })).verified).toBe(true);
      const base = url ?? server.served.url;
      expect(json.supportedInterfaces[0].url).toBe(`${base}/rpc`);
      expect(protectedOf(json)[0].jku).toBe(base + keySetPath);
    }
    expect(server.log.filter(({ level }) => level === "warn")).toHaveLength(url === undefined ? 1 : 0);
  });
});

describe("keys that cannot be used", () => {
  it.each<[string, () => Promise<CardSigning>, RegExp]>([
    ["there is none", async () => ({ keys: [] }), /key/],
    [
      "the only one is retired",
      async () => ({ keys: [{ ...(await newKey("a")), retiredUntil: new Date(4e12) }] }),
      /key/,
    ],
    [
      "one has no private half",
      async () => ({ keys: [{ key: (await newKey("a")).publicKey }] }),
      /"a"|private/,
    ],
    [
      "one is for something else",
      async () => ({ keys: [{ key: (await newKey("a")).key, alg: "RS256" }] }),
      /RS256/,
    ],
    ["one is no PEM", async () => ({ keys: [{ key: "nonsense", kid: "a", alg: "ES256" }] }), /./],
    ["two have the same id", async () => ({ keys: [await newKey("a"), await newKey("a")] }), /"a"/],
    [
      "the public half of a remote signer is not known",
      async () => ({ keys: [{ kid: "a", alg: "ES256", key: async () => new Uint8Array(64) }] }),
      /public/,
    ],
    [
      "a remote signer has another key",
      async () => ({
        keys: [{ ...(await newRemote("a")).signing, publicKey: (await newKey("a")).publicKey }],
      }),
      /"a"/,
    ],
    [
      "a remote signer fails",
      async () => {
        const remote = await newRemote("a");
        remote.isDown = true;
        return { keys: [remote.signing] };
      },
      /"a"/,
    ],
    [
      "one is retired and signs",
      async () => {
        const key = await newKey("a");
        return { keys: [key, { key: key.publicKey, retiredUntil: new Date(4e12) }] };
      },
      /"a".*retired/,
    ],
    [
      "a date is none",
      async () => ({ keys: [await newKey("a"), { ...(await newKey("b")), retiredUntil: new Date("x") }] }),
      /"b".*date/,
    ],
  ])("keep the server from starting when %s", async (_when, signing, message) => {
    await expect(signing().then(start)).rejects.toThrow(message);
  });

  it("change nothing when they come later", async () => {
    const one = await newKey("one");
    await using server = await start({ keys: [one] });
    const before = await getCard(server.served);
    const broken = { keys: [{ key: (await newKey("two")).publicKey }] };
    await expect(server.served.cards.useSigning(broken)).rejects.toThrow();
    expect((await getCard(server.served)).headers.etag).toBe(before.headers.etag);
    expect((await readKeys(server.served)).map(({ kid }) => kid)).toEqual(["one"]);
    await server.served.cards.useSigning({ keys: [await newKey("three")] });
    expect(protectedOf((await getCard(server.served)).json)[0].kid).toBe("three");
  });
});

describe("keys that are changed while the server runs", () => {
  it("sign at once; those before stand in the key set until their date", async () => {
    let offset = 0;
    const clock: Clock = { ...systemClock, now: () => Date.now() + offset };
    const [old, young] = await Promise.all([newKey("old"), newKey("young")]);
    await using server = await start({ keys: [old] }, { clock });
    const before = await getCard(server.served);
    const retiredUntil = new Date(Date.now() + 60_000);
    await server.served.cards.useSigning({ keys: [{ ...old, retiredUntil }, young] });
    const after = await getCard(server.served);
    expect(after.headers.etag).not.toBe(before.headers.etag);
    expect(protectedOf(after.json).map(({ kid }) => kid)).toEqual(["young"]);
    const keys = await readKeys(server.served);
    expect(keys.map(({ kid, exp }) => [kid, exp])).toEqual([
      ["old", Math.floor(retiredUntil.getTime() / 1_000)],
      ["young", undefined],
    ]);
    expect((await verifyCard(before.text, { keys })).verified).toBe(true);
    offset = 61_000;
    expect((await readKeys(server.served)).map(({ kid }) => kid)).toEqual(["young"]);
  });

  it("may be the first: a card that was not signed becomes one that is", async () => {
    const one = await newKey("one");
    await using server = await start(undefined);
    expect((await getCard(server.served)).json).not.toHaveProperty("signatures");
    await server.served.cards.useSigning({ keys: [one] });
    const { text } = await getCard(server.served);
    expect((await verifyCard(text, { keys: [one.publicKey] })).verified).toBe(true);
  });
});

describe("when whoever signs is down", () => {
  async function startRemote(options: ServeOptions = {}) {
    let offset = 0;
    const clock: Clock = { ...systemClock, ticks: () => performance.now() + offset };
    const remote = await newRemote("vault");
    const server = await start({ keys: [remote.signing] }, { clock, ...options });
    return {
      ...server,
      remote,
      later: (ms: number) => {
        offset += ms;
      },
    };
  }

  it("there is no card for the moment where there was none, and never one without signatures", async () => {
    await using server = await startRemote({
      trustedProxies: ["loopback"],
      forwardedHosts: ["http://a.example"],
    });
    const { served, remote, later } = server;
    remote.isDown = true;
    const told = { "x-forwarded-host": "a.example" };
    const refused = await getCard(served, told);
    expect(refused.status).toBe(503);
    expect(refused.headers["retry-after"]).toBe("5");
    expect(JSON.parse(refused.text)).toEqual({
      error: {
        code: 503,
        status: "UNAVAILABLE",
        message: "the agent card cannot be signed at the moment; try again later",
        details: [],
      },
    });
    expect((await get(served.url + keySetPath)).status).toBe(200);
    remote.isDown = false;
    later(5_000);
    expect((await getCard(served, told)).status).toBe(200);
  });

  it("a server that closes does not wait for it", async () => {
    await using server = await startRemote({
      trustedProxies: ["loopback"],
      forwardedHosts: ["http://a.example"],
    });
    const { served, remote } = server;
    remote.hangs = true;
    const asked = new Promise<void>((resolve) => {
      remote.onHang = resolve;
    });
    const answer = getCard(served, { "x-forwarded-host": "a.example" }).catch((error: unknown) => error);
    await asked;
    const begun = performance.now();
    await served.close({ graceMs: 0 });
    expect(performance.now() - begun).toBeLessThan(5_000); // a signature may take 10 s
    await answer;
  });

  it("the card for the server's own URL is there, which was signed at the start", async () => {
    await using server = await startRemote();
    const { served, remote } = server;
    remote.isDown = true;
    const { status, text } = await getCard(served);
    expect([status, remote.calls]).toEqual([200, 1]);
    expect(text).toContain(`"url":"${served.url}`);
  });

  it("a card that other keys have signed does not stay", async () => {
    await using server = await startRemote({
      trustedProxies: ["loopback"],
      forwardedHosts: ["http://a.example"],
    });
    const { served } = server;
    const told = { "x-forwarded-host": "a.example" };
    expect((await getCard(served, told)).status).toBe(200);
    const next = await newRemote("next");
    await served.cards.useSigning({ keys: [next.signing] });
    next.isDown = true;
    expect((await getCard(served, told)).status).toBe(503);
    expect(protectedOf((await getCard(served)).json)[0].kid).toBe("next");
  });
});

/** Tells the principal by a header, as an authenticating interceptor does by credentials. */
const authenticate: Interceptor = (next) => (request) => {
  const id = request.header.get("x-caller");
  if (id !== null) request.contextValues.set(principalKey, { id, anonymous: false });
  return next(request);
};

describe.each(wires)("the extended card over %s", (wire) => {
  it("is each caller's own, and signed", async () => {
    const remote = await newRemote("vault");
    await using harness = await startAgentHarness({
      agent,
      signing: { keys: [remote.signing] },
      wires: { interceptors: [authenticate] },
      extendedCard: {
        find: ({ id }) =>
          id === "nobody"
            ? undefined
            : { name: "Agent", version: "1.0.0", description: `For ${id}.`, skills: [] },
      },
    });
    const ask = (caller: string) =>
      harness.client(wire, { headers: { "x-caller": caller } }).getExtendedAgentCard({});
    const calls = remote.calls;
    for (const caller of ["ann", "bob", "ann"]) {
      const card = await ask(caller);
      expect(card.description).toBe(`For ${caller}.`);
      const verification = await verifyCard(canonicalSignedCard(card), { keys: [remote.signing.publicKey] });
      expect(verification).toMatchObject({ verified: true, profile: "strict", kid: "vault" });
    }
    expect(remote.calls - calls).toBe(2); // what a caller sees again has been signed already
    await expect(ask("nobody")).rejects.toThrow("there is no extended agent card");
    await expect(harness.clients[wire].getExtendedAgentCard({})).rejects.toThrow("needs credentials");
    const unversioned = harness.client(wire, { version: null, headers: { "x-caller": "ann" } });
    await expect(unversioned.getExtendedAgentCard({})).rejects.toThrow(
      "a request without a version means 0.3",
    );
    remote.isDown = true;
    expect((await ask("bob")).signatures).toHaveLength(1);
    await expect(ask("eve")).rejects.toThrow("the agent card cannot be signed at the moment");
  });
});
