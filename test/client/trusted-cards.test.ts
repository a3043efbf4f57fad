// What a trust policy makes of cards that come over real sockets: as they were signed, changed on the way, from somewhere else,
// and weaker than before.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { CardRefusedError, connectAgent, type NodeConnectOptions } from "@a2a-connect/node/client";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { CardNotTrustedError, createCardMemory } from "@a2a-connect/signing";
import type { CardFault } from "@a2a-connect/signing/internal";
import { wires } from "@a2a-connect/testing";
import { clone, type JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";
import { rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { type Peer, type PeerOptions, startPeer } from "../conformance/client/peer.ts";
import { readCodeBlocks } from "../readme/code-blocks.ts";
import { secure } from "../support/cards.ts";
import { type BrokenServer, jsonBindings, respondJson, startBrokenServer } from "./broken-server.ts";
import { createSigner, type TestSigner } from "./card-signer.ts";
import { bindingOf } from "./interfaces.ts";
import { startTamperingProxy } from "./tampering-proxy.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

let ours: TestSigner;
let theirs: TestSigner;
beforeAll(async () => {
  ours = await createSigner("ours");
  theirs = await createSigner("theirs");
});

/** An agent whose card is signed by us; it is asked for before every submission. */
function startSigned(options: PeerOptions = {}): Promise<Peer> {
  return startPeer({
    cardHeaders: { "cache-control": "no-cache" },
    editCard: async (card) => void (await ours.sign(secure(card))),
    ...options,
  });
}

/** Changes the card that a peer serves, and has it signed again. */
async function resign({ card }: Peer, signer: TestSigner, change: (card: AgentCard) => void): Promise<void> {
  change(card);
  card.signatures = [];
  await signer.sign(card);
}

const connect = (url: string, options: NodeConnectOptions = {}) =>
  connectAgent(url, { trust: { keys: [ours.publicKey] }, retry: { attempts: 1 }, ...options });

/** Resolves with the verdict when the promise is rejected because a card is not trusted for that reason. */
async function refusedFor(reason: CardFault, promise: Promise<unknown>): Promise<CardRefusedError> {
  const refused = await rejectedWith(promise, CardRefusedError);
  expect(refused.cause).toBeInstanceOf(CardNotTrustedError);
  expect(refused.cause).toMatchObject({ reason, verification: { verified: false, reason } });
  return refused;
}

describe("a signed card", () => {
  it("is used as it came", async () => {
    await using peer = await startSigned();
    const warnings: string[] = [];
    await using agent = await connect(peer.url, { onWarning: (warning) => warnings.push(warning) });
    await agent.run("work");
    expect(agent.card.name).toBe("Peer");
    expect(warnings).toEqual([]);
  });

  const tokenUrl = "https://login.mallory.example/token";
  for (const [what, reason, change] of [
    ["is without its signature", "no-signature", ({ signatures: _, ...card }) => card],
    ["asks for nothing any more", "signature-mismatch", ({ securityRequirements: _, ...card }) => card],
    [
      "lets callers choose to say nothing",
      "signature-mismatch",
      (card) => ({ ...card, securityRequirements: [...list(card["securityRequirements"]), {}] }),
    ],
    [
      "sends credentials elsewhere",
      "signature-mismatch",
      (card) => JSON.parse(JSON.stringify(card).replace("https://login.example/token", tokenUrl)),
    ],
    [
      "names another interface",
      "signature-mismatch",
      (card) => ({
        ...card,
        supportedInterfaces: [
          { url: "https://mallory.example", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        ],
      }),
    ],
    ["says what nobody knows", "signature-mismatch", (card) => ({ ...card, somethingNew: true })],
    [
      "says the same in another spelling",
      undefined,
      ({ iconUrl: _, ...card }) => ({ ...card, icon_url: null }),
    ],
  ] satisfies readonly (readonly [string, CardFault | undefined, (card: JsonObject) => JsonObject])[]) {
    it(`is ${reason === undefined ? "used" : `refused (${reason})`} when it comes through somebody and ${what}`, async () => {
      await using peer = await startSigned();
      await using proxy = await startTamperingProxy(peer.url);
      await using honest = await connect(proxy.url);
      await honest.run("work");
      const { length } = peer.requests;
      proxy.change = change;
      const connecting = connect(proxy.url);
      if (reason === undefined) {
        await using agent = await connecting;
        expect(agent.card.name).toBe("Peer");
        return;
      }
      const { message, hint, cause } = await refusedFor(reason, connecting);
      expect(message).toMatch(/^The card at http:\/\/127\.0\.0\.1:\d+\/\.well-known\/agent-card\.json is/);
      expect(cause).toMatchObject({ message, hint });
      // In the middle of a client's life as well: nothing is sent by the old card or the new one.
      await refusedFor(reason, honest.run("work"));
      await refusedFor(reason, honest.sendMessage("work"));
      expect(peer.requests).toHaveLength(length);
      proxy.change = (json) => json;
      await honest.run("work");
    });
  }

  it("is refused when nobody whom we know has signed it", async () => {
    await using peer = await startSigned({ editCard: async (card) => void (await theirs.sign(card)) });
    await refusedFor("key-unknown", connect(peer.url));
    expect(peer.requests).toEqual([]);
  });

  it("is judged by the hook, too, once the policy trusts it", async () => {
    await using peer = await startSigned();
    const names: string[] = [];
    const verifyCard: NodeConnectOptions["verifyCard"] = ({ card }) => {
      names.push(card.name);
      throw new Error("not today");
    };
    const refused = await rejectedWith(connect(peer.url, { verifyCard }), CardRefusedError);
    expect(refused.message).toMatch(/is not trusted: not today\.$/);
    await refusedFor("key-unknown", connect(peer.url, { verifyCard, trust: { keys: [theirs.publicKey] } }));
    expect(names).toEqual(["Peer"]);
  });

  it("is refused at once when the policy has no meaning", async () => {
    await using peer = await startSigned();
    await expect(connect(peer.url, { trust: { minSigners: 0 } })).rejects.toThrow(TypeError);
    expect(peer.cardRequests).toEqual([]);
  });
});

describe("a card with a key set of its own origin", () => {
  /** An origin with a card and a key set. The card says that its keys are there. */
  async function startOrigin(
    signer?: TestSigner,
  ): Promise<BrokenServer & { readonly signer: TestSigner; readonly keySetRequests: readonly unknown[] }> {
    const keySetRequests: unknown[] = [];
    const made: { signer?: TestSigner; card?: string } = {};
    const server = await startBrokenServer({
      serveCard: (_, request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        if (request.url === "/.well-known/jwks.json") keySetRequests.push(request);
        response.end(
          request.url === "/.well-known/jwks.json"
            ? JSON.stringify({ keys: [made.signer?.publicKey] })
            : made.card,
        );
      },
    });
    made.signer = signer ?? (await createSigner("own", { jku: `${server.url}/.well-known/jwks.json` }));
    made.card = await made.signer.signText(server.card);
    return Object.assign(server, { signer: made.signer, keySetRequests });
  }

  it("is trusted there, by the guard, and for that alone the guard reaches this machine", async () => {
    await using origin = await startOrigin();
    await using agent = await connect(origin.url, { trust: { jku: {} } });
    expect(agent.card.signatures).toHaveLength(1);
    // A fetch of the policy's own wins.
    const fetch = () => Promise.reject(new Error("not this one"));
    await refusedFor("jwks-unavailable", connect(origin.url, { trust: { jku: { fetch } } }));
  });

  it("is reached by the guard, too, when the policy says in so many words that it has no fetch", async () => {
    await using origin = await startOrigin();
    await using agent = await connect(origin.url, { trust: { jku: {} } });
    const jku = { hosts: [new URL(origin.url).host], fetch: undefined } as object;
    await refusedFor("jwks-unavailable", connectAgent(agent.card, { trust: { jku } }));
  });

  it("has its key set asked once for all connections with the same policy object", async () => {
    await using origin = await startOrigin();
    const trust = { jku: {} };
    for (let connection = 0; connection < 3; connection += 1) {
      await using agent = await connect(origin.url, { trust });
      expect(agent.card.signatures).toHaveLength(1);
    }
    expect(origin.keySetRequests).toHaveLength(1);
  });

  it("is refused when it is served by somebody else", async () => {
    await using origin = await startOrigin();
    await using replay = await startTamperingProxy(origin.url);
    const { message } = await refusedFor("jku-not-allowed", connect(replay.url, { trust: { jku: {} } }));
    expect(message).toContain(new URL(replay.url).port);
  });

  it("is not asked for on this machine for a card that did not come from here", async () => {
    await using origin = await startOrigin();
    await using agent = await connect(origin.url, { trust: { jku: {} } });
    const hosts = [new URL(origin.url).host];
    await refusedFor("jwks-unavailable", connectAgent(agent.card, { trust: { jku: { hosts } } }));
  });

  it("is refused when it is that of another origin, to which the agent redirects", async () => {
    await using origin = await startOrigin();
    await using front = await startBrokenServer({
      serveCard: (_, { url }, response) =>
        void response.writeHead(302, { location: `${origin.url}${url}` }).end(),
    });
    await expect(connect(front.url, { trust: { jku: {} } })).rejects.toThrow(/another origin/);
  });
});

describe("a card that is weaker than the last one", () => {
  const weaken = (card: AgentCard) => {
    card.securityRequirements = [];
  };

  it("is refused when the client connects again, and when its life is not over yet", async () => {
    await using peer = await startSigned();
    const trust = { keys: [ours.publicKey], memory: createCardMemory() };
    await using agent = await connect(peer.url, { trust });
    await agent.run("work");
    const { length } = peer.requests;
    await resign(peer, ours, weaken);
    await refusedFor("downgrade", agent.run("work"));
    await refusedFor("downgrade", connect(peer.url, { trust }));
    expect(peer.requests).toHaveLength(length);
    await resign(peer, ours, secure);
    await agent.run("work");
  });

  it("is used, with a warning for each time it is another one, when the policy only wants to know", async () => {
    await using peer = await startSigned();
    const warnings: string[] = [];
    await using agent = await connect(peer.url, {
      trust: { keys: [ours.publicKey], memory: createCardMemory(), onDowngrade: "alarm" },
      onWarning: (warning) => warnings.push(warning),
    });
    await agent.run("work");
    await resign(peer, ours, weaken);
    warnings.length = 0;
    await agent.run("work");
    await agent.run("work");
    expect(warnings.filter((warning) => /credentials/i.test(warning))).toHaveLength(1);
  });

  it("is refused when another key than the first has signed it", async () => {
    await using peer = await startSigned();
    const trust = { keys: [ours.publicKey, theirs.publicKey], memory: createCardMemory() };
    await using agent = await connect(peer.url, { trust });
    await resign(peer, theirs, () => {});
    await refusedFor("pin-changed", agent.run("work"));
  });
});

describe.each(wires)("an extended card over %s", (wire) => {
  const pinBinding = bindingOf[wire];
  const extend = (peer: () => Peer, edit: (card: AgentCard) => Promise<unknown>): PeerOptions => ({
    service: {
      getExtendedAgentCard: async () => {
        const card = clone(AgentCardSchema, peer().card);
        card.name = "Extended";
        card.signatures = [];
        await edit(card);
        return card;
      },
    },
  });

  it("is used when it is signed", async () => {
    await using peer: Peer = await startSigned(
      extend(
        () => peer,
        (card) => ours.sign(card),
      ),
    );
    await using agent = await connect(peer.url, {
      pinBinding,
      trust: { keys: [ours.publicKey], memory: createCardMemory() },
    });
    expect((await agent.getExtendedCard()).name).toBe("Extended");
    expect((await agent.rpc.getExtendedAgentCard({})).name).toBe("Extended");
    expect(agent.card.name).toBe("Extended");
  });

  for (const [what, reason, edit] of [
    ["nobody has signed it", "no-signature", async () => {}],
    ["somebody else has signed it", "key-unknown", (card) => theirs.sign(card)],
    [
      "it was changed after it was signed",
      "signature-mismatch",
      async (card) => {
        await ours.sign(card);
        card.securityRequirements = [];
      },
    ],
    [
      "it has the public card's signature",
      "signature-mismatch",
      async (card) => {
        const name = card.name;
        card.name = "Peer";
        await ours.sign(card);
        card.name = name;
      },
    ],
  ] satisfies readonly (readonly [string, CardFault, (card: AgentCard) => Promise<unknown>])[]) {
    it(`is refused when ${what}`, async () => {
      await using peer: Peer = await startSigned(extend(() => peer, edit));
      await using agent = await connect(peer.url, { pinBinding });
      const { message } = await refusedFor(reason, agent.getExtendedCard());
      expect(message).toMatch(/^The extended card of the agent at http/);
      await expect(agent.rpc.getExtendedAgentCard({})).rejects.toMatchObject({
        cause: { name: "CardRefusedError", cause: { reason } },
      });
      expect(agent.card.name).toBe("Peer");
    });
  }
});

describe.each(jsonBindings)("an extended card with members that nobody knows, over %s", (pinBinding) => {
  for (const [what, change, reason] of [
    ["is used as it was signed", (text: string) => text, undefined],
    [
      "is refused when one of them was changed",
      (text: string) => text.replace('"somethingNew":{"a":""}', '"somethingNew":{"a":"b"}'),
      "signature-mismatch",
    ],
  ] as const) {
    it(what, async () => {
      const signed = { public: "", extended: "" };
      await using server = await startBrokenServer({
        serveCard: (_, __, response) => respondJson(response, JSON.parse(signed.public)),
        answer: ({ binding, id, response }) => {
          const text = change(signed.extended);
          response.writeHead(200, { "content-type": "application/json" });
          response.end(
            binding === "JSONRPC" ? `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result": ${text} }` : text,
          );
        },
      });
      const card = { ...server.card, capabilities: { extendedAgentCard: true } };
      signed.public = await ours.signText(card);
      signed.extended = await ours.signText({ ...card, name: "Extended", somethingNew: { a: "" } });
      await using agent = await connect(server.url, { pinBinding });
      if (reason === undefined) {
        expect((await agent.getExtendedCard()).name).toBe("Extended");
        expect((await agent.rpc.getExtendedAgentCard({})).name).toBe("Extended");
      } else {
        await refusedFor(reason, agent.getExtendedCard());
        expect(agent.card.name).toBe("Broken agent");
      }
    });
  }
});

it("docs/client.md shows how a card is trusted: the block runs as it stands", async () => {
  const here = fileURLToPath(new URL(".", import.meta.url));
  const page = fileURLToPath(new URL("../../docs/client.md", import.meta.url));
  const code = readCodeBlocks(page).find(({ name }) => name === "trust")?.code ?? "";
  const directory = await mkdtemp(join(here, ".tmp-"));
  try {
    await using peer = await startSigned();
    for (const [key, said] of [
      [ours.publicKey, "trusted: Peer"],
      [theirs.publicKey, "key-unknown"],
    ] as const) {
      const file = join(directory, "trust.ts");
      const given = `import { createCardMemory } from "@a2a-connect/signing";
const publicKey = ${JSON.stringify(key)};
const memory = createCardMemory();
`;
      await writeFile(file, given + code.replace("http://localhost:4000", peer.url));
      const { stdout } = await promisify(execFile)(process.execPath, [file]);
      expect(stdout.trim()).toBe(said);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
});

function list(value: JsonObject[string] | undefined): JsonObject[string][] {
  return Array.isArray(value) ? value : [];
}
