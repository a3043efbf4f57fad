// Tokens that must not count, and how often the issuer is asked for its keys meanwhile.

import {
  type AuthGate,
  basic,
  bearerJwt,
  type Credentials,
  createTaskTokens,
  hashPassword,
  oauth2,
  type Verdict,
} from "@a2a-connect/auth";
import { exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { collectGarbage } from "../../packages/server/test-support/collect-garbage.ts";
import { audience, createIssuer, type TestIssuer, type TokenInit } from "./issuer.ts";

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await createIssuer();
});

const send = (authorization?: string): Credentials => ({
  header: new Headers(authorization === undefined ? {} : { authorization }),
  url: "https://agents.example/rpc",
  countFields: () => (authorization === undefined ? 0 : 1),
  certificate: undefined,
});
const verify = async (gate: AuthGate, token: string): Promise<Verdict> =>
  gate.verify(send(`Bearer ${token}`));
const gateOf = (options: Partial<Parameters<typeof bearerJwt>[0]> = {}) =>
  bearerJwt({ issuer: issuer.issuer, audience, keys: issuer.keys, ...options });
const now = () => Math.floor(Date.now() / 1_000);

describe("a token", () => {
  it.each<[what: string, init: () => TokenInit, refused: string]>([
    ["expired", () => ({ lifeSeconds: -31 }), "the token has expired"],
    ["not valid yet", () => ({ claims: { nbf: now() + 60 } }), "the token is not valid yet"],
    [
      "of another issuer",
      () => ({ claims: { iss: "https://evil.example" } }),
      "the token is of another issuer",
    ],
    [
      "of an issuer that begins alike",
      () => ({ claims: { iss: "https://id.example/" } }),
      "the token is of another issuer",
    ],
    [
      "for another audience",
      () => ({ claims: { aud: "https://other.example" } }),
      "the token is for another audience",
    ],
    ["for no audience", () => ({ claims: { aud: null } }), "the token is for another audience"],
    ["without an end", () => ({ claims: { exp: null } }), "the token lacks a claim"],
    ["without a subject", () => ({ claims: { sub: null } }), "the token lacks a claim"],
    ["of an empty subject", () => ({ claims: { sub: "" } }), "the token names no caller"],
    ["for a logout", () => ({ header: { typ: "logout+jwt" } }), "the token is not an access token"],
    [
      "with unknown extensions",
      () => ({ header: { crit: ["b64"], b64: true } }),
      "the token has extensions that are not known",
    ],
    ["of an unknown key", () => ({ header: { kid: "strange" } }), "the token's signature does not hold"],
  ])("%s does not count", async (_what, init, refused) => {
    expect(await verify(gateOf(), await issuer.token("alice", init()))).toEqual({ refused });
  });

  it("without a signature does not count", async () => {
    const token = new UnsecuredJWT({ sub: "alice", iss: issuer.issuer, aud: audience })
      .setExpirationTime("5m")
      .encode();
    expect(await verify(gateOf(), token)).toEqual({
      refused: "the token is signed by an algorithm that is not taken",
    });
  });

  it("signed with the public key as a shared secret does not count (HS/RS confusion)", async () => {
    const { publicKey } = await generateKeyPair("RS256", { extractable: true });
    const secret = new TextEncoder().encode(await exportSPKI(publicKey));
    const token = await new SignJWT({ sub: "alice", iss: issuer.issuer, aud: audience })
      .setProtectedHeader({ alg: "HS256", kid: "key-1" })
      .setExpirationTime("5m")
      .sign(secret);
    expect(await verify(gateOf(), token)).toEqual({
      refused: "the token is signed by an algorithm that is not taken",
    });
    expect(() => gateOf({ algorithms: ["ES256", "HS256"] })).toThrow("HS256");
  });

  it("with a changed payload does not count, also after the right one was remembered", async () => {
    const gate = gateOf();
    const token = await issuer.token("alice");
    expect(await verify(gate, token)).toMatchObject({ principal: "https://id.example|alice" });
    const [head, , signature] = token.split(".");
    const [, payload] = (await issuer.token("mallory")).split(".");
    expect(await verify(gate, `${head}.${payload}.${signature}`)).toEqual({
      refused: "the token's signature does not hold",
    });
  });

  it("of a key in its own header does not count", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    const jwk = await crypto.subtle.exportKey("jwk", publicKey);
    const token = await new SignJWT({ sub: "alice", iss: issuer.issuer, aud: audience })
      .setProtectedHeader({ alg: "ES256", kid: "key-1", jwk, jku: "https://evil.example/keys" } as never)
      .setExpirationTime("5m")
      .sign(privateKey);
    expect(await verify(gateOf(), token)).toEqual({ refused: "the token's signature does not hold" });
  });

  it.each([
    ["too long", `Bearer ${"a".repeat(16 * 1024)}`, "the token is longer than 16384 characters"],
    ["no JWT", "Bearer abc", "the bearer token is no JWT"],
    ["empty", "Bearer ", "the bearer token is malformed"],
    ["with a space in it", "Bearer a b", "the bearer token is malformed"],
    ["joined by a proxy", "Bearer a, Bearer b", "the bearer token is malformed"],
  ])("that is %s does not count", async (_what, authorization, refused) => {
    expect(await gateOf().verify(send(authorization))).toEqual({ refused });
  });

  it("is nothing to a request without one, or with another scheme", () => {
    const gate = gateOf();
    expect([gate.verify(send()), gate.verify(send("Basic YTpi")), gate.verify(send("Bearerless x"))]).toEqual(
      [undefined, undefined, undefined],
    );
  });

  it("ends while it is remembered", async () => {
    let time = Date.now();
    const gate = gateOf({ now: () => time, clockSkewSeconds: 0 });
    const token = await issuer.token("alice", { lifeSeconds: 100 });
    expect(await verify(gate, token)).toMatchObject({ principal: "https://id.example|alice" });
    expect(gate.verify(send(`Bearer ${token}`))).not.toBeInstanceOf(Promise);
    time += 101_000;
    expect(await verify(gate, token)).toEqual({ refused: "the token has expired" });
  });

  it("is an access token in the strict profile only when it says so (RFC 9068)", async () => {
    const gate = gateOf({ strict: true });
    const claims = { client_id: "app", jti: "1" };
    expect(await verify(gate, await issuer.token("alice", { claims }))).toMatchObject({
      scopes: expect.anything(),
    });
    expect(await verify(gate, await issuer.token("alice", { claims, header: { typ: "JWT" } }))).toEqual({
      refused: "the token is not an access token",
    });
    expect(await verify(gate, await issuer.token("alice"))).toEqual({ refused: "the token lacks a claim" });
  });
});

describe("the keys of an issuer", () => {
  async function remote(options: Partial<Parameters<typeof bearerJwt>[0]> = {}) {
    const own = await createIssuer();
    let served = structuredClone(own.keys);
    const seen = { fetches: 0, down: false, time: Date.now() };
    const gate = bearerJwt({
      issuer: own.issuer,
      audience,
      keys: "https://id.example/keys",
      now: () => seen.time,
      fetch: async () => {
        seen.fetches += 1;
        if (seen.down) throw new TypeError("unreachable");
        return Response.json(served);
      },
      ...options,
    });
    const publish = () => {
      served = structuredClone(own.keys);
    };
    return { own, gate, seen, publish };
  }

  it("are fetched once for many tokens, and again for a key that is new", async () => {
    const { own, gate, seen, publish } = await remote();
    const tokens = await Promise.all(Array.from({ length: 50 }, (_, index) => own.token(`user-${index}`)));
    const verdicts = await Promise.all(tokens.map((token) => verify(gate, token)));
    expect([new Set(verdicts.map((verdict) => verdict && "principal" in verdict)), seen.fetches]).toEqual([
      new Set([true]),
      1,
    ]);
    await own.rotate();
    publish();
    seen.time += 31_000;
    expect(await verify(gate, await own.token("bob"))).toMatchObject({ principal: "https://id.example|bob" });
    expect(seen.fetches).toBe(2);
  });

  it("are not fetched again and again for tokens of unknown keys", async () => {
    const { own, gate, seen } = await remote();
    const tokens = await Promise.all(
      Array.from({ length: 500 }, (_, index) => own.token("mallory", { header: { kid: `no-${index}` } })),
    );
    const verdicts = await Promise.all(tokens.map((token) => verify(gate, token)));
    expect(new Set(verdicts.map((verdict) => JSON.stringify(verdict))).size).toBe(1);
    expect(seen.fetches).toBe(1);
    seen.time += 31_000;
    for (const token of tokens) await verify(gate, token);
    expect(seen.fetches).toBe(2);
  });

  it("are never fetched for tokens of other issuers", async () => {
    const { gate, seen } = await remote();
    const stranger = await createIssuer("https://evil.example");
    await verify(gate, await stranger.token("mallory"));
    expect(seen.fetches).toBe(0);
  });

  it("that cannot be fetched refuse no token for good, and are not asked for at once again", async () => {
    const { own, gate, seen } = await remote();
    seen.down = true;
    const token = await own.token("alice");
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(verify(gate, token)).rejects.toMatchObject({
        rawMessage: "the keys that verify tokens cannot be fetched",
      });
    }
    expect(seen.fetches).toBe(1);
    seen.down = false;
    seen.time += 31_000;
    expect(await verify(gate, token)).toMatchObject({ principal: "https://id.example|alice" });
    // The last keys count on while the issuer is away, for a day.
    seen.down = true;
    seen.time += 700_000;
    expect(await verify(gate, await own.token("bob", { lifeSeconds: 1_000 }))).toMatchObject({
      principal: "https://id.example|bob",
    });
    seen.time += 86_400_000;
    await expect(verify(gate, await own.token("carol", { lifeSeconds: 200_000 }))).rejects.toThrow();
  });

  it("that were taken back end the tokens that are remembered", async () => {
    const { own, gate, seen, publish } = await remote();
    const token = await own.token("alice", { lifeSeconds: 2_000 });
    expect(await verify(gate, token)).toMatchObject({ principal: "https://id.example|alice" });
    await own.rotate();
    own.keys.keys.shift();
    publish();
    seen.time += 601_000;
    expect(await verify(gate, await own.token("bob", { lifeSeconds: 2_000 }))).toMatchObject({
      principal: "https://id.example|bob",
    });
    expect(await verify(gate, token)).toEqual({ refused: "the token's signature does not hold" });
  });
});

describe("an authorization server that is asked about tokens", () => {
  it("is never shown a task token, or the token of another issuer", async () => {
    const asked: string[] = [];
    const gate = oauth2({
      issuer: issuer.issuer,
      audience,
      flows: {},
      introspection: { clientId: "agent", clientSecret: "secret" },
      fetch: async (input) => {
        asked.push(String(input));
        return new Response(null, { status: 503 });
      },
    });
    const tokens = createTaskTokens({ issuer: audience, secret: new Uint8Array(32) });
    const task = { taskId: "1", caller: { principal: "alice", tenant: "" } };
    expect(await verify(gate, await tokens.mint(task))).toBeUndefined();
    const foreign = await issuer.token("alice", { claims: { iss: "https://other.example" } });
    expect(await verify(gate, foreign)).toEqual({ refused: "the token is of another issuer" });
    expect(asked).toEqual([]);
    await expect(verify(gate, "opaque")).rejects.toThrow("cannot be checked now");
    expect(asked).not.toEqual([]);
  });

  describe("is asked once about a token", () => {
    const asked = new Map<string, number>();
    let gate: AuthGate;
    beforeAll(() => {
      gate = oauth2({
        issuer: issuer.issuer,
        audience,
        flows: {},
        introspection: { clientId: "agent", clientSecret: "secret" },
        fetch: async (_, init) => {
          if (init?.method !== "POST") {
            const introspection_endpoint = `${issuer.issuer}/introspect`;
            return Response.json({ issuer: issuer.issuer, introspection_endpoint });
          }
          const token = new URLSearchParams(String(init.body)).get("token") ?? "";
          const end = token.slice(-8);
          asked.set(end, (asked.get(end) ?? 0) + 1);
          return Response.json({ active: end.startsWith("r"), aud: audience, sub: `user-${token.at(-1)}` });
        },
      });
    });

    it.each([20, 1_024, 1_025, 16_000])("of %i characters, also when it does not count", async (length) => {
      asked.clear();
      const tokens = ["right--1", "right--2", "wrong--1"].map((end) => end.padStart(length, "x"));
      const principals = [1, 2].map((user) => ({ principal: `${issuer.issuer}|user-${user}` }));
      const want = [...principals, { refused: "the token is not active" }];
      for (const _ of ["first", "again"]) {
        const verdicts = await Promise.all(
          tokens.flatMap((token) => [verify(gate, token), verify(gate, token)]),
        );
        expect(verdicts).toMatchObject(want.flatMap((each) => [each, each]));
      }
      expect([...asked.values()]).toEqual([1, 1, 1]);
    });

    it.each([
      ["long", (at: number) => `${at}`.padStart(16_000, "x")],
      ["short, after many spaces", (at: number) => `${"-token-number".padStart(16_000)}-${at}`],
    ])("which is %s, and keeps no more of it than it needs to know it again", async (_, tokenOf) => {
      const count = 100;
      for (let at = -10; at < 0; at += 1) await verify(gate, tokenOf(at));
      const bytes = await heapOf(async () => {
        for (let at = 0; at < count; at += 1) await verify(gate, tokenOf(at));
      });
      expect(bytes / count).toBeLessThan(5_000);
    });
  });
});

/** The heap that is taken by what this leaves, in bytes. */
async function heapOf(leave: () => Promise<void>): Promise<number> {
  await collectGarbage(() => false, 3);
  const before = process.memoryUsage().heapUsed;
  await leave();
  await collectGarbage(() => false, 3);
  return process.memoryUsage().heapUsed - before;
}

describe("passwords that are guessed", () => {
  it("keep no other sender from its call, from however many addresses they come", async () => {
    const gate = basic({ users: { alice: { hash: await hashPassword("right") } } });
    const from = async (share: string, password: string) =>
      gate.verify({ ...send(`Basic ${btoa(`alice:${password}`)}`), share });
    const settled: string[] = [];
    const guesses = ["a", "b", "c", "d", "e"].flatMap((share) =>
      ["1", "2"].map((guess) => from(share, guess).then(() => settled.push("guess"))),
    );
    const mine = ["right", "right"].map((password) => from("other", password));
    for (const each of mine) {
      expect(await each).toMatchObject({ principal: "user:alice" });
      settled.push("mine");
    }
    await Promise.all(guesses);
    expect(settled.lastIndexOf("mine")).toBeLessThan(settled.length - 1);
  });
});

it("opaque tokens of many senders wait until they are checked", async () => {
  const running = new Set<string>();
  let most = 0;
  const gate = oauth2({
    issuer: issuer.issuer,
    audience,
    flows: {},
    introspection: { clientId: "checker", clientSecret: "secret" },
    fetch: async (_, init) => {
      if (init?.method !== "POST") {
        return Response.json({
          issuer: issuer.issuer,
          introspection_endpoint: `${issuer.issuer}/introspect`,
        });
      }
      const token = new URLSearchParams(String(init.body)).get("token") ?? "";
      running.add(token);
      most = Math.max(most, running.size);
      await new Promise((resolve) => setImmediate(resolve));
      running.delete(token);
      return Response.json({ active: token === "right", aud: audience, sub: "alice" });
    },
  });
  const from = async (share: string, token: string) => gate.verify({ ...send(`Bearer ${token}`), share });
  const wrong = ["a", "b", "c", "d", "e", "f", "g"].flatMap((share) =>
    Array.from({ length: 32 }, (_, at) => from(share, `${share}${at}`)),
  );
  expect(await from("other", "right")).toMatchObject({ principal: `${issuer.issuer}|alice` });
  expect(await Promise.all(wrong)).toEqual(wrong.map(() => ({ refused: "the token is not active" })));
  expect(most).toBe(64);
});
