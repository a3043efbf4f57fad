import { setImmediate } from "node:timers";
import { exportJWK, generateKeyPair } from "jose";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { RemoteKeySet } from "./key-set.ts";

it("lets few calls in a turn of the event loop go on that have waited for the keys, and callers take turns", async () => {
  const { promise: answer, resolve } = Promise.withResolvers<Response>();
  const fetch = vi.fn(() => answer);
  const url = () => "https://id.example/keys";
  const keys = new RemoteKeySet({ url, fetch, now: Date.now, maxAgeMs: 1_000, cooldownMs: 1_000 });
  let inTurn = 0;
  let mostInATurn = 0;
  const order: string[] = [];
  const find = async (caller: string): Promise<void> => {
    const token = { payload: "", signature: "" };
    await expect(keys.findFor(caller)({ kid: "unknown", alg: "ES256" }, token)).rejects.toThrow(
      "no applicable key",
    );
    order.push(caller);
    if (inTurn === 0) setImmediate(() => (inTurn = 0));
    inTurn += 1;
    mostInATurn = Math.max(mostInATurn, inTurn);
  };
  const calls = [...Array.from({ length: 300 }, () => find("alice")), find("bob")];
  await vi.waitFor(() => expect(fetch).toHaveBeenCalled());
  resolve(Response.json({ keys: [] }));
  await Promise.all(calls);
  expect(mostInATurn).toBeLessThanOrEqual(128); // of two turns, because it may count from the middle of one
  expect(order.indexOf("bob")).toBeLessThan(150);
});

describe("an issuer that can be slow", () => {
  const token = { payload: "", signature: "" };
  let jwk: object;
  beforeAll(async () => {
    const { publicKey } = await generateKeyPair("ES256", { extractable: true });
    jwk = await exportJWK(publicKey);
  });

  /** An issuer whose keys are fetched at most every 10 ms, and count for 100 ms. */
  function createIssuer() {
    const fetches: { answer(...kids: string[]): void; fail(): void }[] = [];
    const fetch = () => {
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      fetches.push({
        answer: (...kids) => resolve(Response.json({ keys: kids.map((kid) => ({ ...jwk, kid })) })),
        fail: () => reject(new Error("the issuer is away")),
      });
      return promise;
    };
    const issuer = { time: 0, fetches, find };
    const url = () => "https://id.example/keys";
    const keys = new RemoteKeySet({ url, fetch, now: () => issuer.time, maxAgeMs: 100, cooldownMs: 10 });
    /** What a call gets; "waits" when it has nothing after some turns of the event loop. */
    function find(kid: string) {
      const found = Promise.resolve(keys.findFor("alice")({ kid, alg: "ES256" }, token)).then(
        () => "found",
        ({ message }: Error) => message,
      );
      return { found, soon: Promise.race([found, someTurns()]) };
    }
    return issuer;
  }

  async function someTurns(): Promise<string> {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return "waits";
  }

  async function fetchFirst(issuer: ReturnType<typeof createIssuer>): Promise<void> {
    const first = issuer.find("old");
    expect(await first.soon).toBe("waits");
    issuer.fetches[0]?.answer("old");
    expect(await first.found).toBe("found");
  }

  it("is asked before the keys are too old, while they are used", async () => {
    const issuer = createIssuer();
    await fetchFirst(issuer);
    issuer.time = 90;
    expect([await issuer.find("old").soon, issuer.fetches.length]).toEqual(["found", 1]);
    issuer.time = 91;
    expect([await issuer.find("old").soon, issuer.fetches.length]).toEqual(["found", 2]);
    issuer.fetches[1]?.answer("new");
    await someTurns();
    expect(await issuer.find("new").soon).toBe("found");
  });

  it("is waited for when they are too old, and not again while it is away", async () => {
    const issuer = createIssuer();
    await fetchFirst(issuer);
    issuer.time = 101;
    const waiting = issuer.find("old");
    expect(await waiting.soon).toBe("waits");
    issuer.fetches[1]?.fail();
    expect(await waiting.found).toBe("found");
    issuer.time = 120;
    expect([await issuer.find("old").soon, issuer.fetches.length]).toEqual(["found", 3]);
    const unknown = issuer.find("new");
    expect(await unknown.soon).toBe("waits");
    issuer.fetches[2]?.answer("new");
    expect(await unknown.found).toBe("found");
    issuer.time = 221;
    expect(await issuer.find("new").soon, "the issuer was there").toBe("waits");
  });

  it("is waited for when nothing is known of it for two of its cool-downs", async () => {
    const issuer = createIssuer();
    await fetchFirst(issuer);
    issuer.time = 101;
    const waiting = issuer.find("old");
    await someTurns();
    issuer.fetches[1]?.fail();
    expect(await waiting.found).toBe("found");
    issuer.time = 122;
    expect(await issuer.find("old").soon).toBe("waits");
  });

  it("is waited for where no keys count", async () => {
    const issuer = createIssuer();
    const first = issuer.find("old");
    await someTurns();
    issuer.fetches[0]?.fail();
    expect(await first.found).toMatch("cannot be fetched");
    issuer.time = 20;
    const second = issuer.find("old");
    expect(await second.soon).toBe("waits");
    issuer.fetches[1]?.answer("old");
    expect(await second.found).toBe("found");
    issuer.time = 86_400_020;
    const away = issuer.find("old");
    await someTurns();
    issuer.fetches[2]?.fail();
    expect(await away.found).toBe("found");
    issuer.time = 86_400_031;
    expect(await issuer.find("old").soon, "the keys are older than a day").toBe("waits");
  });
});
