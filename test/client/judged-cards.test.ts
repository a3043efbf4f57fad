// A card is judged before it is used, whenever it comes: at first, when it is renewed in the middle of a client's life, when a
// failure makes the client ask for it, and when it is the extended one.

import {
  type AgentClient,
  CardRefusedError,
  type ReceivedCard,
  type ResumeOptions,
} from "@a2a-connect/client";
import { a2aError } from "@a2a-connect/core";
import { type AgentCard, AgentCardSchema, TaskState } from "@a2a-connect/proto";
import { canonicalCard } from "@a2a-connect/signing/canonical";
import { wires } from "@a2a-connect/testing";
import { clone } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { collect, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { meetPeer } from "../conformance/client/every-operation.ts";
import { events, type PeerOptions, peerTask, taskEvent, taskId } from "../conformance/client/peer.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const { COMPLETED, INPUT_REQUIRED } = TaskState;
const refusal = new Error("who signed this?");

/** Judges by the card's version: those that begin with 6 are refused. */
function verifyVersion({ card: { version } }: ReceivedCard): void {
  if (version.startsWith("6")) throw refusal;
}

const staleAtOnce: PeerOptions = { cardHeaders: { "cache-control": "no-cache" } };
const freshForLong: PeerOptions = { cardHeaders: { "cache-control": "max-age=3600" } };

function renamed(card: AgentCard, version: string): AgentCard {
  return { ...clone(AgentCardSchema, card), version };
}

describe.each(wires)("over %s", (wire) => {
  it("a card that is refused when it is renewed stops whatever would begin work, and neither is used", async () => {
    const { peer, agent } = await meetPeer(wire, {}, { verifyCard: verifyVersion, peer: staleAtOnce });
    await agent.run("work");
    const { length } = peer.requests;
    peer.card.version = "6.0.0";
    for (const begin of [
      () => agent.run("work"),
      () => agent.sendMessage("work"),
      () => collect(agent.stream("work")),
      () => agent.run("work"), // nor is it forgotten
    ]) {
      const { cause, code } = await rejectedWith(begin(), CardRefusedError);
      expect({ cause, code }).toEqual({ cause: refusal, code: "card-refused" });
    }
    expect(peer.requests).toHaveLength(length);
    expect(agent.card.version).toBe("1.0.0");
    expect((await agent.getTask(taskId)).id).toBe(taskId); // what was begun can be looked after
    peer.card.version = "2.0.0";
    await agent.run("work");
    expect(agent.card.version).toBe("2.0.0");
  });

  it("a card that is refused when a failure made us ask for it stops this call and the next", async () => {
    const { peer, agent } = await meetPeer(
      wire,
      {
        sendStreamingMessage: () => {
          if (peer.card.version === "1.0.0") return events(taskEvent(COMPLETED));
          throw a2aError("CONTENT_TYPE_NOT_SUPPORTED", "not in this version");
        },
      },
      { verifyCard: verifyVersion, peer: freshForLong },
    );
    await agent.run("work");
    const { length } = peer.requests;
    peer.card.version = "6.0.0";
    await rejectedWith(agent.run("work"), CardRefusedError);
    expect(peer.requests).toHaveLength(length + 1);
    await rejectedWith(agent.run("work"), CardRefusedError); // though the card was to be fresh for an hour
    expect(peer.requests).toHaveLength(length + 1);
    expect(agent.card.version).toBe("1.0.0");
  });

  for (const [how, begin] of [
    ["run", (agent, options) => agent.run("work", options)],
    ["resume", (agent, options) => agent.resume(taskId, options)],
  ] satisfies readonly (readonly [
    string,
    (agent: AgentClient, options: ResumeOptions) => Promise<unknown>,
  ])[]) {
    it(`a card that is refused while a question is open ends the ${how}, and the answer is not sent`, async () => {
      const asking = taskEvent(INPUT_REQUIRED);
      const { peer, agent } = await meetPeer(
        wire,
        {
          sendStreamingMessage: () => events(asking),
          subscribeToTask: () => events(asking),
          getTask: () => peerTask(INPUT_REQUIRED),
        },
        { verifyCard: verifyVersion, peer: staleAtOnce },
      );
      const onInputRequired = () => {
        peer.card.version = "6.0.0";
        return "a secret";
      };
      const refused = await rejectedWith(begin(agent, { onInputRequired }), CardRefusedError);
      expect(refused.cause).toBe(refusal);
      expect(refused.taskId).toBe(taskId);
      expect(refused.message).toMatch(/who signed this\? .*task-1.* is still there/);
      expect(refused.hint).toMatch(/resume task task-1/);
      expect(peer.requests.filter(({ method }) => method === "SendMessage")).toEqual([]);
      expect((await agent.cancelTask(taskId)).id).toBe(taskId);
    });
  }

  it("a card that is refused lets nothing be sent to a task, nor asks after it, nor gives a webhook or credentials", async () => {
    const { peer, agent } = await meetPeer(wire, {}, { verifyCard: verifyVersion, peer: staleAtOnce });
    peer.card.version = "6.0.0";
    const input = { parts: "a secret", taskId };
    for (const send of [
      () => agent.run(input),
      () => agent.sendMessage(input),
      () => collect(agent.stream(input)),
      () => agent.createPushConfig(taskId, { url: "https://hook.example/", token: "a secret" }),
    ]) {
      const { taskId: known } = await rejectedWith(send(), CardRefusedError);
      expect(known).toBe(taskId);
    }
    expect((await rejectedWith(agent.getExtendedCard(), CardRefusedError)).taskId).toBe(undefined);
    expect(peer.requests).toEqual([]);
    expect(agent.card.version).toBe("1.0.0");
    await collect(agent.follow(taskId));
    await agent.deletePushConfig(taskId, "config-1");
  });

  it("an extended card is judged by the text that came, each time, and the last good one stays", async () => {
    const judged: ReceivedCard[] = [];
    let version = "1.1.0";
    const { peer, agent } = await meetPeer(
      wire,
      { getExtendedAgentCard: () => renamed(peer.card, version) },
      {
        verifyCard: (received) => {
          judged.push(received);
          verifyVersion(received);
        },
      },
    );
    const card = await agent.getExtendedCard();
    expect(agent.card).toBe(card);
    expect(judged.map(({ extended, url }) => ({ extended, url }))).toEqual([
      { extended: false, url: `${peer.url}/.well-known/agent-card.json` },
      { extended: true, url: `${peer.url}/.well-known/agent-card.json` },
    ]);
    expect(canonicalCard(judged[1]?.text ?? "")).toBe(canonicalCard(renamed(peer.card, version)));
    version = "6.0.0";
    await rejectedWith(agent.getExtendedCard(), CardRefusedError);
    expect(agent.card).toBe(card);
    await expect(agent.rpc.getExtendedAgentCard({})).rejects.toMatchObject({
      cause: { name: "CardRefusedError" },
    });
    version = "1.2.0";
    expect((await agent.getExtendedCard()).version).toBe("1.2.0");
    expect(agent.card.version).toBe("1.2.0");
    expect(judged).toHaveLength(5);
  });

  it("of two extended cards that are asked for at the same time the later one is in use", async () => {
    let asked = 0;
    const secondIsJudged = Promise.withResolvers<void>();
    const firstIsThere = Promise.withResolvers<void>();
    const { peer, agent } = await meetPeer(
      wire,
      { getExtendedAgentCard: () => renamed(peer.card, `1.${++asked}.0`) },
      {
        verifyCard: async ({ card: { version } }) => {
          if (version !== "1.1.0") return;
          firstIsThere.resolve();
          await secondIsJudged.promise;
        },
      },
    );
    const first = agent.getExtendedCard();
    await firstIsThere.promise;
    expect((await agent.getExtendedCard()).version).toBe("1.2.0");
    secondIsJudged.resolve();
    expect((await first).version).toBe("1.1.0");
    expect(agent.card.version).toBe("1.2.0");
  });

  it("an extended card of a public one that was replaced meanwhile is not used: it is asked for again", async () => {
    const isThere = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const { peer, agent } = await meetPeer(
      wire,
      { getExtendedAgentCard: () => renamed(peer.card, `${peer.card.version}+extended`) },
      {
        verifyCard: async ({ card: { version } }) => {
          if (version !== "1.0.0+extended") return;
          isThere.resolve();
          await goOn.promise;
        },
        peer: staleAtOnce,
      },
    );
    const asking = agent.getExtendedCard();
    await isThere.promise;
    peer.card.version = "2.0.0";
    await agent.run("work");
    expect(agent.card.version).toBe("2.0.0");
    goOn.resolve();
    expect((await asking).version).toBe("2.0.0+extended");
    expect(agent.card.version).toBe("2.0.0+extended");
  });

  it("an extended card goes with the public one that it belongs to", async () => {
    const { peer, agent } = await meetPeer(
      wire,
      { getExtendedAgentCard: () => renamed(peer.card, `${peer.card.version}+extended`) },
      { peer: staleAtOnce },
    );
    await agent.getExtendedCard();
    await agent.run("work");
    expect(agent.card.version).toBe("1.0.0+extended"); // the public one is the same
    peer.card.version = "2.0.0";
    await agent.run("work");
    expect(agent.card.version).toBe("2.0.0");
  });

  it("an extended card that comes when its caller has left is not used", async () => {
    const caller = new AbortController();
    const { peer, agent } = await meetPeer(
      wire,
      { getExtendedAgentCard: () => renamed(peer.card, "1.1.0") },
      {
        verifyCard: ({ extended }) => {
          if (extended) caller.abort(refusal);
        },
      },
    );
    await expect(agent.getExtendedCard({ signal: caller.signal })).rejects.toBe(refusal);
    expect(agent.card.version).toBe("1.0.0");
  });
});
