import type { HttpRequest } from "@a2a-connect/bindings";
import { createCardSigner, generateSigningKey } from "@a2a-connect/signing";
import type { RemoteSign } from "@a2a-connect/signing/internal";
import { createEngineHarness, type EngineHarnessOptions } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";

const agent = { card: { name: "Agent" }, execute: () => [] };

const request: HttpRequest = {
  httpVersion: "1.1",
  url: "http://localhost/.well-known/agent-card.json",
  method: "GET",
  header: new Headers(),
  body: (async function* () {})(),
  signal: new AbortController().signal,
};

/** Answers when a test says so. */
async function slowSigner(kid = "slow") {
  const { privateJwk, publicJwk } = await generateSigningKey({ kid });
  const local = await createCardSigner({ key: privateJwk });
  const signer = {
    keys: [{ key: (async (input) => sign(input)) satisfies RemoteSign, publicKey: publicJwk }],
    isDown: false,
    isStalled: false,
    /** What it was asked to sign in all, and how much at most at the same time. */
    calls: 0,
    mostAtOnce: 0,
    /** What waits while it is stalled, oldest first: called, each goes on. */
    stalled: [] as (() => void)[],
    goOn() {
      signer.isStalled = false;
      for (const goOn of signer.stalled.splice(0)) goOn();
    },
  };
  let running = 0;
  async function sign(input: Uint8Array<ArrayBuffer>) {
    signer.calls += 1;
    running += 1;
    signer.mostAtOnce = Math.max(signer.mostAtOnce, running);
    try {
      if (signer.isStalled) await new Promise<void>((goOn) => signer.stalled.push(goOn));
      if (signer.isDown) throw new Error("the vault is down");
      return await local.sign(input);
    } finally {
      running -= 1;
    }
  }
  return signer;
}

async function start(options: Omit<EngineHarnessOptions, "agent" | "signing"> = {}) {
  const signer = await slowSigner();
  const harness = await createEngineHarness({ agent, signing: { keys: signer.keys }, ...options });
  harness.server.moveTo("http://localhost:4000");
  const ask = async (details: Partial<HttpRequest> = {}) => {
    const { status, header, body } = await harness.server.handle({ ...request, ...details });
    const json = JSON.parse(body instanceof Uint8Array ? new TextDecoder().decode(body) : "");
    return { status, etag: header?.get("etag"), retryAfter: header?.get("retry-after"), json };
  };
  const update = (version: string) => harness.server.cards.update({ name: "Agent", version });
  /** Of what is served to everybody who asks. */
  const version = async () => (await ask()).json.version;
  return { ...harness, signer, ask, update, version };
}

const messagesOf = (log: readonly { readonly message: string }[]) => log.map(({ message }) => message);

describe("a card that has to be signed", () => {
  it("is given up when signing takes longer than 10 s", async () => {
    const { signer, ask, clock, log } = await start();
    signer.isStalled = true;
    const answer = ask();
    await clock.settle();
    await clock.advance(10_000);
    expect((await answer).status).toBe(503);
    expect(messagesOf(log)).toEqual(["an agent card could not be signed; one that was signed before stays"]);
  });

  it("is signed once for all who ask meanwhile", async () => {
    const { signer, ask } = await start();
    const { calls } = signer;
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(new Set(answers.map(({ etag }) => etag)).size).toBe(1);
    expect(signer.calls - calls).toBe(1);
  });

  it("is given in turns to those who have waited for it", async () => {
    const { signer, ask } = await start();
    signer.isStalled = true;
    const turns: (() => void)[] = [];
    const turnToGoOn = () => new Promise<void>((resolve) => turns.push(resolve));
    let answered = 0;
    const answers = [1, 2, 3].map(() => ask({ turnToGoOn }).finally(() => answered++));
    await waitUntil(() => signer.stalled.length === 1);
    signer.goOn();
    for (const given of [0, 1, 2]) {
      await waitUntil(() => turns.length === 3 - given);
      expect(answered).toBe(given);
      turns.pop()?.();
      await waitUntil(() => answered === given + 1);
    }
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("is the newest for those who ask after a change, however long the one before it takes", async () => {
    const { signer, update, ask } = await start();
    signer.isStalled = true;
    const before = ask();
    update("2.0.0");
    const after = ask();
    await waitUntil(() => signer.stalled.length === 2);
    signer.goOn();
    const [first, second] = await Promise.all([before, after]);
    expect([first.json.version, second.json.version]).toEqual(["0.0.0", "2.0.0"]);
    expect((await ask()).etag).toBe(second.etag);
  });

  it("is not replaced by an older one that was signed later", async () => {
    const { signer, update, ask, version } = await start();
    signer.isStalled = true;
    const before = ask();
    await waitUntil(() => signer.stalled.length === 1);
    signer.isStalled = false;
    update("2.0.0");
    const newest = await ask();
    signer.goOn();
    await before;
    const { calls } = signer;
    signer.isDown = true; // so that nothing is signed anew
    expect((await ask()).etag).toBe(newest.etag);
    expect([await version(), signer.calls]).toEqual(["2.0.0", calls]);
  });

  it("is waited for no longer than its caller is there", async () => {
    const { signer, ask, client } = await start({ extendedCard: { find: () => agent.card, open: true } });
    signer.isStalled = true;
    const leaving = new AbortController();
    const { signal } = leaving;
    const answers = [ask({ signal }), client.getExtendedAgentCard({}, { signal })];
    await waitUntil(() => signer.stalled.length === 2);
    leaving.abort();
    await expect(answers[1]).rejects.toThrow();
    expect(await answers[0]).toMatchObject({ status: 503 });
    expect(await ask({ signal })).toMatchObject({ status: 503 });
  });

  it("counts as an answer before it is signed", async () => {
    const { signer, server } = await start({ extendedCard: { find: () => agent.card, open: true } });
    const url = "http://localhost:4000/rest/extendedAgentCard";
    let [counted, calls] = [0, 0];
    const countUnread = (bytes: number): void => {
      counted += bytes;
      calls = signer.calls;
    };
    const before = signer.calls;
    const header = new Headers({ "a2a-version": "1.0" });
    expect(await server.handle({ ...request, url, header, countUnread })).toMatchObject({ status: 200 });
    expect(counted).toBeGreaterThan(JSON.stringify(server.card).length);
    expect([calls, signer.calls]).toEqual([before, before + 1]);
  });

  it("is written once to be compared with those that are signed, where it is the same object", async () => {
    const { signer, client } = await start({ extendedCard: { find: () => agent.card, open: true } });
    const spy = vi.spyOn(JSON, "stringify");
    onTestFinished(() => spy.mockRestore());
    const before = signer.calls;
    for (let calls = 0; calls < 3; calls += 1) await client.getExtendedAgentCard({});
    const written = spy.mock.calls.filter(
      ([value]) => Array.isArray(value) && String(value[1]).includes("Agent"),
    );
    expect([written.length, signer.calls]).toEqual([1, before + 1]);
  });

  it("fails unheard when its caller has gone", async () => {
    const { signer, ask, log } = await start();
    signer.isDown = true;
    expect(await ask({ signal: AbortSignal.abort() })).toMatchObject({ status: 503 });
    await waitUntil(() => log.length === 1);
  });

  it("is one of four at a time, whatever URLs callers come by", async () => {
    const { signer, ask } = await start({ forwardedHosts: ["*.agents.example"] });
    signer.isStalled = true;
    const urls = Array.from({ length: 10 }, (_, index) => `https://a${index}.agents.example`);
    const answers = urls.map((forwardedUrl) => ask({ forwardedUrl }));
    await waitUntil(() => signer.stalled.length === 4);
    signer.goOn();
    const cards = await Promise.all(answers);
    expect(cards.map(({ json }) => json.supportedInterfaces[0].url)).toEqual(urls.map((url) => `${url}/rpc`));
    expect(signer.mostAtOnce).toBe(4);
  });

  it("is kept for every host that is listed, however many they are", async () => {
    const hosts = Array.from({ length: 40 }, (_, index) => `a${index}.agents.example`);
    const { signer, ask } = await start({ forwardedHosts: hosts });
    const askAll = async () => {
      for (const host of hosts) await ask({ forwardedUrl: `https://${host}` });
      return signer.calls;
    };
    expect(await askAll()).toBe(await askAll());
  });
});

describe("a signed card that has changed", () => {
  it("is waited for a second at most, together; then the one before is there at once", async () => {
    const { signer, ask, update, version, clock, log } = await start();
    await ask();
    update("2.0.0");
    signer.isStalled = true;
    const first = version();
    await waitUntil(() => signer.stalled.length === 1);
    await clock.advance(600);
    const second = version();
    await clock.advance(400);
    expect(await Promise.all([first, second])).toEqual(["0.0.0", "0.0.0"]);
    expect(await version()).toBe("0.0.0");
    signer.goOn();
    await waitUntil(async () => (await version()) === "2.0.0");
    expect([signer.calls, log]).toEqual([3, []]); // when it was started, where it is now, and this one
  });

  it("is tried again after 5 s, then after twice as long each time, up to a minute", async () => {
    const { signer, ask, update, version, clock, log } = await start();
    await ask();
    update("2.0.0");
    signer.isDown = true;
    const { calls } = signer;
    const tries: number[] = [];
    const begun = clock.ticks();
    while (tries.length < 8) {
      const before = signer.calls;
      expect(await version()).toBe("0.0.0");
      if (signer.calls > before) tries.push((clock.ticks() - begun) / 1_000);
      await clock.advance(1_000);
    }
    expect(tries).toEqual([0, 5, 15, 35, 75, 135, 195, 255]);
    expect(signer.calls - calls).toBe(tries.length);
    expect(new Set(messagesOf(log))).toEqual(
      new Set(["an agent card could not be signed; one that was signed before stays"]),
    );
    expect(String(log[0]?.error)).toContain("the vault is down");
    signer.isDown = false;
    await clock.advance(60_000);
    expect(await version()).toBe("2.0.0");
    update("3.0.0");
    signer.isDown = true;
    await version();
    const failed = signer.calls;
    await clock.advance(5_000);
    await version();
    expect(signer.calls - failed).toBe(1); // the first pause is short again
  });

  it("has the one before it in the form of A2A 0.3, too, while it cannot be signed", async () => {
    const { signer, ask, update, log } = await start({ protocolVersions: ["1.0", "0.3"] });
    const older = { url: "http://localhost/.well-known/agent.json" };
    const before = await ask(older);
    expect(before.json).toMatchObject({ protocolVersion: "0.3.0", version: "0.0.0" });
    update("2.0.0");
    signer.isDown = true;
    expect(await ask(older)).toEqual(before);
    expect(messagesOf(log)).toEqual(["an agent card could not be signed; one that was signed before stays"]);
  });

  it("says when to come back where there is no other", async () => {
    const { signer, ask, clock } = await start();
    signer.isDown = true;
    const told = async () => (await ask()).retryAfter;
    expect([await told(), await told()]).toEqual(["5", "5"]);
    await clock.advance(2_500);
    expect(await told()).toBe("3");
    await clock.advance(2_500);
    expect(await told()).toBe("10");
  });

  it("counts as one failure what fails together", async () => {
    const { signer, ask, clock } = await start({ forwardedHosts: ["*.agents.example"] });
    signer.isDown = true;
    signer.isStalled = true;
    const answers = [1, 2, 3].map((index) => ask({ forwardedUrl: `https://a${index}.agents.example` }));
    await waitUntil(() => signer.stalled.length === 3);
    await clock.advance(1_000);
    signer.goOn();
    expect((await Promise.all(answers)).map(({ retryAfter }) => retryAfter)).toEqual(["5", "5", "5"]);
  });
});

describe("keys that are changed", () => {
  const kidOf = ({
    signatures: [first],
  }: {
    readonly signatures: readonly { readonly protected: string }[];
  }) => JSON.parse(atob((first?.protected ?? "").replaceAll("-", "+").replaceAll("_", "/"))).kid;

  it("sign the extended cards anew, too", async () => {
    const { server, client } = await start({ extendedCard: { find: () => agent.card, open: true } });
    expect(kidOf(await client.getExtendedAgentCard({}))).toBe("slow");
    await server.cards.useSigning({ keys: (await slowSigner("next")).keys });
    expect(kidOf(await client.getExtendedAgentCard({}))).toBe("next");
  });

  it("take over in the order in which they were asked for, however slow the first is", async () => {
    const { server, ask } = await start();
    const [second, third] = [await slowSigner("second"), await slowSigner("third")];
    second.isStalled = true;
    const turns = [second, third].map(({ keys }) => server.cards.useSigning({ keys }));
    await waitUntil(() => second.stalled.length === 1);
    // Long enough for the third to take over, were it not for the second.
    await Promise.race([turns[1], signSomething(200)]);
    expect(third.calls).toBe(0);
    second.goOn();
    await Promise.all(turns);
    expect(kidOf((await ask()).json)).toBe("third");
  });
});

/** Takes as long as a few signatures do. */
async function signSomething(count: number): Promise<void> {
  const { privateJwk } = await generateSigningKey();
  const { sign } = await createCardSigner({ key: privateJwk });
  for (let done = 0; done < count; done += 1) await sign(new Uint8Array(1));
}

/** Keys are made and used on other threads, which no clock sees. */
async function waitUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}
