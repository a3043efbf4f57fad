// A card that is kept is judged again, for whoever serves it says how long it may be kept, and keys expire meanwhile.

import {
  CardRefusedError,
  type ConnectOptions,
  connectAgent as connectAnywhere,
  type ReceivedCard,
} from "@a2a-connect/client";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { clone } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { collect, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { connectOver, meetPeer } from "../conformance/client/every-operation.ts";
import { type Peer, type PeerOptions, startPeer } from "../conformance/client/peer.ts";
import { createManualClock, type ManualClock } from "./client-clocks.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const freshForLong: PeerOptions = { cardHeaders: { "cache-control": "max-age=2592000" } };

/** Trusts what these keys have signed, if one may say so: the provider's name is the key. */
class Keys {
  readonly good = new Set(["first"]);
  readonly judged: string[] = [];

  readonly verify = ({ card, extended }: ReceivedCard): void => {
    const key = keyOf(card);
    this.judged.push(extended ? `extended ${key}` : key);
    if (!this.good.has(key)) throw new Error(`the key ${key} has expired`);
  };
}

const keyOf = ({ provider }: AgentCard) => provider?.organization ?? "";

function signBy(card: AgentCard, key: string): AgentCard {
  card.provider = { $typeName: "lf.a2a.v1.AgentProvider", organization: key, url: "https://keys.example" };
  return card;
}

const startSigned = (options: PeerOptions = {}): Promise<Peer> =>
  startPeer({ ...freshForLong, editCard: (card) => void signBy(card, "first"), ...options });

const connect = (peer: Peer, clock: ManualClock, keys: Keys, options: ConnectOptions = {}) =>
  connectOver("jsonrpc", peer, { clock, verifyCard: keys.verify, ...options });

it("is judged again after five minutes, by its text and without a request, once for all who wait", async () => {
  await using peer = await startSigned();
  const [clock, keys] = [createManualClock(), new Keys()];
  await using agent = await connect(peer, clock, keys);
  await clock.advance(5 * minuteMs - 1);
  await agent.run("work");
  expect(keys.judged).toHaveLength(1);
  await clock.advance(1);
  await Promise.all([agent.run("work"), agent.sendMessage("work"), collect(agent.stream("work"))]);
  await agent.run("work");
  expect(keys.judged).toEqual(["first", "first"]);
  await clock.advance(5 * minuteMs);
  await agent.run("work");
  expect(keys.judged).toHaveLength(3);
  expect(peer.cardRequests).toHaveLength(1);
});

it("begins no work when it is refused then, until there is one that is not", async () => {
  await using peer = await startSigned();
  const [clock, keys] = [createManualClock(), new Keys()];
  await using agent = await connect(peer, clock, keys);
  keys.good.clear();
  await clock.advance(5 * minuteMs);
  for (const begin of [() => agent.run("work"), () => agent.sendMessage("work")]) {
    const { message } = await rejectedWith(begin(), CardRefusedError);
    expect(message).toContain("the key first has expired");
  }
  expect(peer.requests).toEqual([]);
  keys.good.add("second");
  signBy(peer.card, "second");
  await agent.run("work");
  expect(keyOf(agent.card)).toBe("second");
});

it("makes way without a failure for one that is signed anew", async () => {
  await using peer = await startSigned();
  const [clock, keys] = [createManualClock(), new Keys()];
  await using agent = await connect(peer, clock, keys);
  keys.good.clear();
  keys.good.add("second");
  signBy(peer.card, "second");
  await clock.advance(5 * minuteMs);
  await agent.run("work");
  expect(keyOf(agent.card)).toBe("second");
  expect(keys.judged).toEqual(["first", "first", "second"]);
});

it("does not stay in use when it is refused and no other can be had", async () => {
  let isGone = false;
  await using peer = await startSigned({ tamper: (text) => (isGone ? "out of order" : text) });
  const [clock, keys] = [createManualClock(), new Keys()];
  await using agent = await connect(peer, clock, keys);
  isGone = true;
  await clock.advance(30 * dayMs);
  await agent.run("work"); // it is still trusted
  keys.good.clear();
  await agent.run("work"); // as it was a moment ago
  await clock.advance(5 * minuteMs);
  const { length } = peer.requests;
  await rejectedWith(agent.run("work"), CardRefusedError);
  await rejectedWith(agent.run("work"), CardRefusedError);
  expect(peer.requests).toHaveLength(length);
});

for (const [what, verifyCard, requests] of [
  ["24 hours at most with a policy", () => {}, 2],
  ["as long as it says without one", undefined, 1],
] as const) {
  it(`is kept for ${what}`, async () => {
    await using peer = await startSigned();
    const clock = createManualClock();
    await using agent = await connectOver("jsonrpc", peer, {
      clock,
      ...(verifyCard === undefined ? {} : { verifyCard }),
    });
    await clock.advance(dayMs - 1);
    await agent.run("work");
    expect(peer.cardRequests).toHaveLength(1);
    await clock.advance(1);
    await agent.run("work");
    expect(peer.cardRequests).toHaveLength(requests);
  });
}

it("is in use no more when it is the extended one and refused then: the public one is", async () => {
  await using peer: Peer = await startSigned({
    service: {
      getExtendedAgentCard: () =>
        signBy({ ...clone(AgentCardSchema, peer.card), name: "Extended" }, "second"),
    },
  });
  const [clock, keys, warnings] = [createManualClock(), new Keys(), [] as string[]];
  keys.good.add("second");
  await using agent = await connect(peer, clock, keys, { onWarning: (warning) => warnings.push(warning) });
  await agent.getExtendedCard();
  await clock.advance(5 * minuteMs);
  await agent.run("work");
  expect(keys.judged).toEqual(["first", "extended second", "first", "extended second"]);
  expect(agent.card.name).toBe("Extended");
  keys.good.delete("second");
  await clock.advance(5 * minuteMs);
  await agent.run("work");
  expect(agent.card.name).toBe("Peer");
  expect(warnings.join(" ")).toMatch(/extended card.*not in use any more.*the key second has expired/);
  await agent.run("work");
  expect(warnings).toHaveLength(1);
});

it("is judged again when the caller gave it, too", async () => {
  await using peer = await startSigned();
  const [clock, keys] = [createManualClock(), new Keys()];
  await using agent = await connectAnywhere(clone(AgentCardSchema, peer.card), {
    pinBinding: "JSONRPC",
    clock,
    verifyCard: keys.verify,
  });
  await agent.run("work");
  expect(keys.judged).toHaveLength(1);
  keys.good.clear();
  await clock.advance(5 * minuteMs);
  const { length } = peer.requests;
  await rejectedWith(agent.run("work"), CardRefusedError);
  await rejectedWith(agent.sendMessage("work"), CardRefusedError);
  expect(peer.requests).toHaveLength(length);
  keys.good.add("first");
  await agent.run("work");
});

it("is said once to be out of reach, until it is there again", async () => {
  let isGone = false;
  const { agent, warnings } = await meetPeer(
    "jsonrpc",
    {},
    {
      peer: {
        cardHeaders: { "cache-control": "no-cache" },
        tamper: (text) => (isGone ? "out of order" : text),
      },
    },
  );
  for (const expected of [1, 2]) {
    isGone = true;
    await Promise.all([agent.run("work"), agent.run("work")]);
    await agent.run("work");
    expect(warnings).toHaveLength(expected);
    isGone = false;
    await agent.run("work");
  }
  expect(warnings[0]).toContain("could not be renewed");
});
