import { once } from "node:events";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type Answer, sending, startKeyServer } from "../../test-support/key-server.ts";
import type { JkuPolicy } from "../trust/trust-policy.ts";
import { createKeySets, type KeySets } from "./key-sets.ts";

const key = (kid: string, more: object = {}) => ({ kid, kty: "OKP", crv: "Ed25519", x: kid, ...more });
const set = (...keys: readonly unknown[]) => ({ keys });
const start = Date.UTC(2026, 0, 1);

describe("asking for a key set", () => {
  it("asks once, for a key set, and gives the keys with the id as they stand", async () => {
    const wanted = key("a", { exp: 1, nbf: 2, revoked: { at: 3 } });
    await using server = await startKeyServer(sending(set(key("b"), wanted)));
    const found = await createKeySets({}).find(new URL(`${server.origin}/keys?v=1`), "a", { now: start });
    expect(found).toEqual({ keys: [wanted] });
    expect(server.requests.map(({ method, url }) => [method, url])).toEqual([["GET", "/keys?v=1"]]);
    expect(server.requests[0]?.headers.accept).toBe("application/jwk-set+json, application/json");
  });

  it("gives all keys with the id, up to four", async () => {
    const keys = [1, 2, 3, 4, 5].map((n) => key("a", { n }));
    await using server = await startKeyServer(sending(set(...keys)));
    const found = await find(createKeySets({}), server.origin, "a");
    expect(found).toEqual({ keys: keys.slice(0, 4) });
  });

  it("passes over what is no key, or has no id", async () => {
    await using server = await startKeyServer(
      sending(set(null, 7, [], { kid: "a" }, { kty: "RSA" }, key("", {}), { ...key("a"), kid: 7 }, key("a"))),
    );
    expect(await find(createKeySets({}), server.origin, "a")).toEqual({ keys: [key("a")] });
  });

  it("uses a hundred keys of a set", async () => {
    const keys = Array.from({ length: 101 }, (_, index) => key(`k${index}`));
    await using server = await startKeyServer(sending(set(...keys)));
    const source = createKeySets({});
    expect(await find(source, server.origin, "k99")).toHaveProperty("keys");
    expect(await find(source, server.origin, "k100")).toMatchObject({ fault: "key-unknown" });
  });

  for (const [what, bad] of [
    ["a private EC or OKP key", key("a", { d: "x" })],
    ["a private RSA key", { kid: "a", kty: "RSA", n: "x", e: "x", p: "x" }],
    ["a symmetric key", { kid: "a", kty: "oct", k: "x" }],
    ["a symmetric key without its secret", { kid: "a", kty: "oct" }],
  ] as const) {
    it(`does not use ${what}`, async () => {
      await using server = await startKeyServer(sending(set(bad)));
      expect(await find(createKeySets({}), server.origin, "a")).toMatchObject({
        fault: "key-unknown",
        problem: expect.stringContaining("has no public key with this id"),
      });
    });
  }

  for (const [what, answer, policy, problem] of [
    ["404", sending("no", {}, 404), {}, "answered with HTTP status 404"],
    ["500", sending("no", {}, 500), {}, "answered with HTTP status 500"],
    ["204", sending("", {}, 204), {}, "answered with HTTP status 204"],
    ["a web page", sending("<!doctype html>"), {}, "is a web page, not a key set"],
    ["no JSON", sending("{keys:[]}"), {}, "is not JSON"],
    ["nothing", sending(""), {}, "is not JSON"],
    [
      "no UTF-8",
      (response) => void response.end(Buffer.from('{"keys":["\xff"]}', "latin1")),
      {},
      "is not JSON",
    ],
    ["an array", sending([]), {}, 'has no list "keys"'],
    ["keys that are no list", sending({ keys: {} }), {}, 'has no list "keys"'],
    ["a member twice", sending('{"keys":[{"kid":"a","kid":"b"}]}'), {}, "has the member keys[0].kid twice"],
    ["deep nesting", sending("[".repeat(101)), {}, "is nested deeper than 100 levels"],
    ["a long body", sending(set(key("a".repeat(90)))), { maxBytes: 99 }, "is larger than 99 bytes"],
    ["an endless body", endless, { maxBytes: 4096 }, "is larger than 4096 bytes"],
    ["a connection that breaks", (response) => void response.destroy(), {}, "could not be reached"],
    ["a body that breaks", breaking, {}, "could not be reached"],
  ] satisfies readonly (readonly [string, Answer, JkuPolicy, string])[]) {
    it(`says what is wrong with ${what}`, async () => {
      await using server = await startKeyServer(answer);
      const found = await find(createKeySets(policy), server.origin, "a");
      expect(found).toEqual({
        fault: "jwks-unavailable",
        problem: `the key set ${server.origin}/keys ${problem}`,
      });
    });
  }

  for (const status of [301, 302, 303, 307, 308]) {
    it(`does not follow a redirect (${status})`, async () => {
      await using server = await startKeyServer(sending("", { location: "/elsewhere" }, status));
      expect(await find(createKeySets({}), server.origin, "a")).toMatchObject({
        fault: "jwks-unavailable",
        problem: expect.stringContaining("redirects of key sets are not followed"),
      });
      expect(server.requests).toHaveLength(1);
    });
  }

  it("refuses what a fetch that follows redirects of itself brings", async () => {
    await using server = await startKeyServer((response, request) => {
      const isAsked = request.url === "/keys";
      const answer = isAsked ? sending("", { location: "/elsewhere" }, 302) : sending(set(key("a")));
      answer(response, request);
    });
    const following: typeof fetch = (input) => fetch(input);
    expect(await find(createKeySets({ fetch: following }), server.origin, "a")).toMatchObject({
      fault: "jwks-unavailable",
    });
  });

  for (const [what, fetch] of [
    ["silence, of a fetch that has no ear for its signal", () => new Promise<Response>(() => {})],
    ["a body that stops", async () => new Response(stopping())],
  ] satisfies readonly (readonly [string, typeof globalThis.fetch])[]) {
    it(`waits five seconds for ${what}`, async () => {
      vi.useFakeTimers();
      onTestFinished(() => void vi.useRealTimers());
      const onFound = vi.fn();
      const found = find(createKeySets({ fetch }), "https://keys.example.org", "a");
      void found.then(onFound);
      await vi.advanceTimersByTimeAsync(4_999);
      expect(onFound).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(await found).toEqual({
        fault: "jwks-unavailable",
        problem: "the key set https://keys.example.org/keys did not answer within 5000 ms",
      });
    });
  }
});

describe("keeping a key set", () => {
  for (const [what, headers, freshMs] of [
    ["ten minutes when it says nothing", {}, 600_000],
    ["as long as it says", { "cache-control": "public, Max-Age=60" }, 60_000],
    ["as long as it says, in quotes", { "cache-control": 'max-age="60"' }, 60_000],
    ["less what it has spent in caches", { "cache-control": "max-age=60", age: "20" }, 40_000],
    [
      "until it expires",
      { date: "Thu, 01 Jan 2026 00:00:00 GMT", expires: "Thu, 01 Jan 2026 00:01:00 GMT" },
      60_000,
    ],
    ["a day at most", { "cache-control": "max-age=99999999" }, 24 * 60 * 60_000],
  ] as const) {
    it(`keeps it ${what}`, async () => {
      await using server = await startKeyServer(sending(set(key("a")), headers));
      const source = createKeySets({});
      const first = await find(source, server.origin, "a");
      const second = await find(source, server.origin, "a", start + freshMs - 1);
      expect("keys" in first && "keys" in second && first.keys[0] === second.keys[0]).toBe(true);
      expect(server.requests).toHaveLength(1);
      await find(source, server.origin, "a", start + freshMs);
      expect(server.requests).toHaveLength(2);
    });
  }

  for (const control of [
    "no-store",
    "no-cache, max-age=60",
    "max-age=0",
    "max-age=soon",
    "max-age=60, no-store",
  ]) {
    it(`uses it once with ${control}`, async () => {
      await using server = await startKeyServer(sending(set(key("a")), { "cache-control": control }));
      const source = createKeySets({});
      expect(await find(source, server.origin, "a")).toHaveProperty("keys");
      expect(await find(source, server.origin, "b")).toHaveProperty("fault");
      expect(await find(source, server.origin, "a")).toHaveProperty("keys");
      expect(server.requests).toHaveLength(3);
    });
  }

  it("does not use what is older than it may be, even when nothing newer is to be had", async () => {
    await using server = await startKeyServer(sending(set(key("a"))));
    const source = createKeySets({});
    await find(source, server.origin, "a");
    server.answer = sending("no", {}, 503);
    expect(await find(source, server.origin, "a", start + 600_000)).toMatchObject({
      fault: "jwks-unavailable",
    });
  });

  it("does not believe a clock that was set back", async () => {
    await using server = await startKeyServer(sending(set(key("a"))));
    const source = createKeySets({});
    await find(source, server.origin, "a");
    await find(source, server.origin, "a", start - 1);
    expect(server.requests).toHaveLength(2);
  });

  it("keeps a hundred sets, and lets go of the one that was asked longest ago", async () => {
    await using server = await startKeyServer(sending(set(key("a"))));
    const source = createKeySets({});
    const urls = Array.from({ length: 101 }, (_, index) => new URL(`${server.origin}/${index}`));
    for (const url of urls) await source.find(url, "a", { now: start });
    for (const url of urls.slice(1)) await source.find(url, "a", { now: start });
    expect(server.requests).toHaveLength(101);
    await source.find(new URL(`${server.origin}/0`), "a", { now: start });
    expect(server.requests).toHaveLength(102);
  });
});

describe("a key that a set does not have", () => {
  it("makes the set be asked anew once, and then not before it has cooled down", async () => {
    await using server = await startKeyServer(sending(set(key("a"))));
    const source = createKeySets({});
    await find(source, server.origin, "a");
    const unknown = {
      fault: "key-unknown",
      problem: `the key set ${server.origin}/keys has no public key with this id`,
    };
    expect(await find(source, server.origin, "b", start + 1)).toEqual(unknown);
    expect(server.requests).toHaveLength(2);
    server.answer = sending(set(key("a"), key("b")));
    expect(await find(source, server.origin, "b", start + 30_000)).toEqual(unknown);
    expect(await find(source, server.origin, "c", start + 30_000)).toEqual(unknown);
    expect(await find(source, server.origin, "a", start + 30_000)).toHaveProperty("keys");
    expect(server.requests).toHaveLength(2);
    expect(await find(source, server.origin, "b", start + 30_001)).toHaveProperty("keys");
    expect(server.requests).toHaveLength(3);
  });

  it("is not asked for again at once after the first request", async () => {
    await using server = await startKeyServer(sending(set()));
    const source = createKeySets({});
    await find(source, server.origin, "a");
    await find(source, server.origin, "a", start + 29_999);
    expect(server.requests).toHaveLength(1);
    await find(source, server.origin, "a", start + 30_000);
    expect(server.requests).toHaveLength(2);
  });

  it("is not asked for again at once of a set that may not be kept", async () => {
    await using server = await startKeyServer(sending(set(key("a")), { "cache-control": "no-store" }));
    const source = createKeySets({});
    for (let time = start; time < start + 10; time += 1) await find(source, server.origin, "b", time);
    expect(server.requests).toHaveLength(1);
    expect(await find(source, server.origin, "b", start + 10)).toMatchObject({ fault: "key-unknown" });
    expect(await find(source, server.origin, "a", start + 10)).toHaveProperty("keys");
    expect(server.requests).toHaveLength(2);
    await find(source, server.origin, "b", start + 30_000);
    expect(server.requests).toHaveLength(3);
  });

  it("does not cost the others their key when the set cannot be asked anew", async () => {
    await using server = await startKeyServer(sending(set(key("a"))));
    const source = createKeySets({});
    await find(source, server.origin, "a");
    server.answer = sending("no", {}, 503);
    expect(await find(source, server.origin, "b")).toMatchObject({ fault: "jwks-unavailable" });
    expect(await find(source, server.origin, "b")).toMatchObject({ fault: "jwks-unavailable" });
    expect(await find(source, server.origin, "a")).toHaveProperty("keys");
    expect(server.requests).toHaveLength(2);
  });
});

describe("a key set that fails", () => {
  it("is not asked again before it has cooled down", async () => {
    await using server = await startKeyServer(sending("no", {}, 503));
    const source = createKeySets({});
    const first = await find(source, server.origin, "a");
    server.answer = sending(set(key("a")));
    expect(await find(source, server.origin, "a", start + 29_999)).toEqual(first);
    expect(server.requests).toHaveLength(1);
    expect(await find(source, server.origin, "a", start + 30_000)).toHaveProperty("keys");
    expect(await find(source, server.origin, "b", start + 30_000)).toMatchObject({ fault: "key-unknown" });
  });
});

describe("several callers", () => {
  it("share one request", async () => {
    await using server = await startKeyServer(sending(set(key("a"), key("b"))));
    const source = createKeySets({});
    const kids = ["a", "b", "a", "c"];
    const found = await Promise.all(kids.map((kid) => find(source, server.origin, kid)));
    expect(found.map(({ fault }) => fault === undefined)).toEqual([true, true, true, false]);
    expect(server.requests).toHaveLength(1);
  });

  it("do not share the request when one stops waiting, and get their answer", async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<() => void>();
    await using server = await startKeyServer((response, request) =>
      onAsked(() => sending(set(key("a")))(response, request)),
    );
    const source = createKeySets({});
    const stop = new AbortController();
    const stopped = find(source, server.origin, "a", start, stop.signal);
    const other = find(source, server.origin, "a");
    const answerNow = await asked;
    stop.abort(new Error("enough"));
    await expect(stopped).rejects.toThrow("enough");
    answerNow();
    expect(await other).toHaveProperty("keys");
    expect(server.requests).toHaveLength(1);
  });

  it("end the request when all have stopped waiting, and nothing is remembered of it", async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<{
      readonly closed: Promise<unknown>;
    }>();
    await using server = await startKeyServer((response) => onAsked({ closed: once(response, "close") }));
    const source = createKeySets({});
    const stop = new AbortController();
    const stopped = find(source, server.origin, "a", start, stop.signal);
    const { closed } = await asked;
    stop.abort(new Error("enough"));
    await expect(stopped).rejects.toThrow("enough");
    await closed;
    server.answer = sending(set(key("a")));
    expect(await find(source, server.origin, "a")).toHaveProperty("keys");
  });

  it("do not ask at all when the signal is aborted already", async () => {
    await using server = await startKeyServer(sending(set(key("a"))));
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(find(createKeySets({}), server.origin, "a", start, signal)).rejects.toThrow("enough");
    expect(server.requests).toHaveLength(0);
  });
});

function find(source: KeySets, origin: string, kid: string, now = start, signal?: AbortSignal) {
  return source.find(new URL(`${origin}/keys`), kid, { now, signal });
}

function endless(response: Parameters<Answer>[0]): void {
  response.writeHead(200);
  const write = () => {
    while (response.writable && response.write("x".repeat(1024)));
  };
  response.on("drain", write);
  write();
}

function breaking(response: Parameters<Answer>[0]): void {
  response.writeHead(200, { "content-length": "100" });
  response.write('{"keys":', () => response.destroy());
}

function stopping(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode('{"keys":')) });
}
