import type { HttpRequest } from "@a2a-connect/bindings";
import { createCardSigner, generateSigningKey, type RemoteSign } from "@a2a-connect/signing";
import { createEngineHarness } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";

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
async function slowSigner() {
  const { privateJwk, publicJwk } = await generateSigningKey({ kid: "slow" });
  const local = await createCardSigner({ key: privateJwk });
  let gate: Promise<void> = Promise.resolve();
  let open = () => {};
  const key: RemoteSign = async (input) => {
    await gate;
    return local.sign(input);
  };
  return {
    keys: [{ key, publicKey: publicJwk }],
    stall() {
      ({ promise: gate, resolve: open } = Promise.withResolvers<void>());
    },
    goOn: () => open(),
  };
}

async function start() {
  const signer = await slowSigner();
  const harness = await createEngineHarness({ agent, signing: { keys: signer.keys } });
  harness.server.moveTo("http://localhost:4000");
  const ask = async () => {
    const { status, header, body } = await harness.server.handle(request);
    const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : "";
    return { status, etag: header?.get("etag"), json: JSON.parse(text) };
  };
  return { ...harness, signer, ask };
}

describe("a card that has to be signed", () => {
  it("is given up when signing takes longer than 10 s", async () => {
    const { signer, ask, clock, log } = await start();
    signer.stall();
    const answer = ask();
    await clock.settle();
    await clock.advance(10_000);
    expect((await answer).status).toBe(503);
    expect(log.map(({ message }) => message)).toEqual([
      "the agent card could not be signed; the last signed one stays",
    ]);
  });

  it("is signed once for all who ask meanwhile", async () => {
    const { ask } = await start();
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(new Set(answers.map(({ etag }) => etag)).size).toBe(1);
  });

  it("is the newest for those who ask after a change, however long the one before it takes", async () => {
    const { signer, server, ask } = await start();
    signer.stall();
    const before = ask();
    server.cards.update({ name: "Agent", version: "2.0.0" });
    const after = ask();
    signer.goOn();
    const [first, second] = await Promise.all([before, after]);
    expect([first.json.version, second.json.version]).toEqual(["0.0.0", "2.0.0"]);
    expect((await ask()).etag).toBe(second.etag);
  });
});
