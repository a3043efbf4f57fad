// A card that changes while many calls are under way: each of them is made again, once, with the new one.

import { CardDriftError, CardExpectationError, TaskRejectedError } from "@a2a-connect/client";
import { a2aError, findA2AError, lifecycleExtension, partText } from "@a2a-connect/core";
import { idempotencyKeyHeader } from "@a2a-connect/core/internal";
import { AgentCapabilitiesSchema, type AgentCard, AgentSkillSchema, TaskState } from "@a2a-connect/proto";
import { cardDigest } from "@a2a-connect/signing/canonical";
import { wires } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { connectOver, meetPeer } from "../conformance/client/every-operation.ts";
import {
  events,
  type PeerOptions,
  peerTask,
  startPeer,
  statusEvent,
  taskAfter,
  taskAnswer,
  taskEvent,
  taskId,
} from "../conformance/client/peer.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const { COMPLETED, REJECTED, WORKING } = TaskState;
const staleAtOnce: PeerOptions = { cardHeaders: { "cache-control": "no-cache" } };
const refusal = () => a2aError("CONTENT_TYPE_NOT_SUPPORTED", "not in this version");

describe.each(wires)("over %s", (wire) => {
  it("calls are made again whose failures come together", async () => {
    let sends = 0;
    const both = Promise.withResolvers<void>();
    const { peer, agent } = await meetPeer(wire, {
      async *sendStreamingMessage() {
        sends += 1;
        if (sends === 2) both.resolve();
        if (sends <= 2) {
          await both.promise;
          throw refusal();
        }
        yield* events(taskEvent(COMPLETED));
      },
    });
    peer.card.version = "2.0.0";
    const results = await Promise.all([agent.run("one"), agent.run("two")]);
    expect(results.map(({ task }) => task?.status?.state)).toEqual([COMPLETED, COMPLETED]);
    expect(sends).toBe(4);
  });

  it("a call is made again whose failure comes when another one has changed the card already", async () => {
    const sends: string[] = [];
    const release = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const { peer, agent } = await meetPeer(wire, {
      async *sendStreamingMessage({ message }) {
        const words = message === undefined ? "" : partText(message);
        sends.push(words);
        if (words === "slow" && sends.filter((each) => each === words).length === 1) {
          arrived.resolve();
          await release.promise;
          throw refusal();
        }
        if (words === "quick" && sends.filter((each) => each === words).length === 1) throw refusal();
        yield* events(taskEvent(COMPLETED));
      },
    });
    const slow = agent.run("slow");
    await arrived.promise;
    peer.card.version = "2.0.0";
    await agent.run("quick");
    release.resolve();
    expect((await slow).task?.status?.state).toBe(COMPLETED);
    expect(sends).toEqual(["slow", "quick", "quick", "slow"]);
  });

  it("a call under way with the old card is not disturbed", async () => {
    const release = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    let refused = 0;
    const { peer, agent } = await meetPeer(wire, {
      sendMessage: async () => {
        arrived.resolve();
        await release.promise;
        return taskAnswer(peerTask(COMPLETED));
      },
      sendStreamingMessage: () => {
        if (refused++ === 0) throw refusal();
        return events(taskEvent(COMPLETED));
      },
    });
    const blocking = agent.sendMessage("slow");
    await arrived.promise;
    peer.card.version = "2.0.0";
    await agent.run("quick");
    release.resolve();
    expect((await blocking).payload.case).toBe("task");
  });

  it("a call that does not fit the new card either says what has changed", async () => {
    const { peer, agent } = await meetPeer(wire, {
      sendStreamingMessage: () => {
        throw refusal();
      },
    });
    peer.card.version = "2.0.0";
    const { changes } = await rejectedWith(agent.run("go"), CardDriftError);
    expect(changes.join(" ")).toContain("2.0.0");
    expect(peer.requests).toHaveLength(2);
  });

  it("parameters that are refused are sent once more to an agent that has changed", async () => {
    let sends = 0;
    const { peer, agent, warnings } = await meetPeer(wire, {
      sendStreamingMessage: () => {
        sends += 1;
        if (sends === 1) throw new ConnectError("no such skill", Code.InvalidArgument);
        return events(taskEvent(COMPLETED));
      },
    });
    peer.card.version = "2.0.0";
    expect((await agent.run("go")).task?.status?.state).toBe(COMPLETED);
    expect(warnings).toEqual(["The agent's card has changed: The version was 1.0.0 and is 2.0.0."]);
  });

  it("parameters that are refused stay refused when the card is the same: it is looked for once", async () => {
    const { peer, agent } = await meetPeer(wire, {
      sendStreamingMessage: () => {
        throw new ConnectError("no such skill", Code.InvalidArgument);
      },
    });
    const { length } = peer.cardRequests;
    expect(await failureOf(agent.run("go"))).toMatchObject({ code: Code.InvalidArgument });
    expect(peer.cardRequests).toHaveLength(length + 1);
    expect(peer.requests).toHaveLength(1);
  });

  it.each(["unsupported-skill", "skill-unavailable", "skill-removed"])(
    "a rejection with %s is told with what has changed, versions included",
    async (reason) => {
      const rejected = statusEvent(REJECTED, "not that");
      if (rejected.payload.case === "statusUpdate" && rejected.payload.value.status?.message !== undefined) {
        rejected.payload.value.status.message.metadata = { [lifecycleExtension]: { reason } };
      }
      const { peer, agent, warnings } = await meetPeer(wire, {
        sendStreamingMessage: () => events(taskEvent(TaskState.SUBMITTED), rejected),
        getTask: () => taskAfter(taskEvent(TaskState.SUBMITTED), rejected),
      });
      const rejection = await rejectedWith(agent.run("go"), TaskRejectedError);
      expect(rejection.reason).toBe(reason); // the card is the same
      peer.card.skills.push(
        create(AgentSkillSchema, { id: "speak", name: "Speak", description: "Speaks.", tags: ["speak"] }),
      );
      const drift = await rejectedWith(agent.run("go"), CardDriftError);
      expect(drift.cause).toBeInstanceOf(TaskRejectedError);
      expect(drift.changes.join(" ")).toContain("speak");
      expect(warnings).toEqual([expect.stringContaining("The version is still 1.0.0.")]);
      expect(agent.card.skills.map(({ id }) => id)).toContain("speak");
    },
  );

  it("calls that find the same new card at the same time take it over once, with one warning", async () => {
    const { peer, agent, warnings } = await meetPeer(wire, {}, { peer: staleAtOnce });
    peer.card.version = "2.0.0";
    await Promise.all(Array.from({ length: 5 }, () => agent.sendMessage("work")));
    await agent.sendMessage("work");
    expect(warnings).toEqual(["The agent's card has changed: The version was 1.0.0 and is 2.0.0."]);
    expect(agent.card.version).toBe("2.0.0");
  });

  it("a card with other words is taken over, though callers are told of nothing", async () => {
    const { peer, agent, warnings } = await meetPeer(wire, {}, { peer: staleAtOnce });
    peer.card.description = "Says something else.";
    await agent.run("work");
    expect(agent.card.description).toBe("Says something else.");
    expect(warnings).toEqual([]);
  });

  it("a card with other words is not the one whose digest was expected", async () => {
    await using peer = await startPeer(staleAtOnce);
    const expected = { cardDigest: await cardDigest(peer.card) };
    await using agent = await connectOver(wire, peer, { expect: expected });
    await agent.run("work");
    const { length } = peer.requests;
    peer.card.description = "Says something else.";
    for (const begin of [() => agent.run("work"), () => agent.sendMessage("work")]) {
      const { cause, message } = await rejectedWith(begin(), CardDriftError);
      expect(cause).toBeInstanceOf(CardExpectationError);
      expect(message).toMatch(/any more: The card's SHA-256/);
    }
    expect(peer.requests).toHaveLength(length);
  });

  it("keys are not counted on any more when the new card has none", async () => {
    const setKeys = (card: AgentCard, idempotencyKeys: boolean) => {
      card.capabilities = create(AgentCapabilitiesSchema, {
        streaming: true,
        extensions: [{ uri: lifecycleExtension, params: { idempotencyKeys } }],
      });
    };
    const { peer, agent, warnings } = await meetPeer(
      wire,
      {},
      { peer: { ...staleAtOnce, editCard: (card) => setKeys(card, true) } },
    );
    const sendAll = async () => {
      const { length } = peer.requests;
      await agent.sendMessage("work");
      await agent.run("work");
      return peer.requests.slice(length).map(({ header }) => header.has(idempotencyKeyHeader));
    };
    expect(await sendAll()).toEqual([true, true]);
    setKeys(peer.card, false);
    expect(await sendAll()).toEqual([false, false]);
    setKeys(peer.card, true);
    expect(await sendAll()).toEqual([true, true]);
    expect(warnings[0]).toContain(`Other parameters of these extensions: ${lifecycleExtension}`);
  });

  it("a failure of which a new card says nothing stays what it is", async () => {
    const failures = [refusal(), refusal()];
    const { peer, agent } = await meetPeer(wire, {
      sendStreamingMessage: () => {
        throw failures.shift() ?? new Error("once too often");
      },
    });
    peer.card.description = "Says something else.";
    expect(findA2AError(await failureOf(agent.run("go")))?.reason).toBe("CONTENT_TYPE_NOT_SUPPORTED");
    expect(peer.requests).toHaveLength(1);
    expect(agent.card.description).toBe("Says something else.");
  });

  it("connections to what the older cards named do not stay open", async () => {
    const { peer, agent } = await meetPeer(wire, {}, { peer: staleAtOnce });
    const sockets = () =>
      process.getActiveResourcesInfo().filter((resource) => /TCPSocket/.test(resource)).length;
    await agent.run("work");
    const before = sockets();
    for (let version = 2; version < 12; version += 1) {
      peer.card.version = `${version}.0.0`;
      await agent.run("work");
    }
    await expect.poll(sockets).toBeLessThan(before + 8); // each is one here and one there
  });

  it("a call that is under way keeps its connection until it has ended", async () => {
    const release = Promise.withResolvers<void>();
    const { peer, agent } = await meetPeer(
      wire,
      {
        async *sendStreamingMessage({ message }) {
          if (message !== undefined && partText(message) === "slow") {
            yield taskEvent(WORKING);
            await release.promise;
          }
          yield taskEvent(COMPLETED);
        },
      },
      { peer: staleAtOnce },
    );
    const stream = agent.stream("slow")[Symbol.asyncIterator]();
    await stream.next();
    const { rpc } = agent;
    peer.card.version = "2.0.0";
    await agent.run("quick");
    peer.card.version = "3.0.0";
    await agent.run("quick");
    release.resolve();
    expect((await stream.next()).value).toMatchObject({ payload: { case: "statusUpdate" } });
    expect((await stream.next()).done).toBe(true);
    expect(peer.requests.map(({ method }) => method)).not.toContain("SubscribeToTask");
    expect((await rpc.getTask({ id: taskId })).id).toBe(taskId); // whoever has it calls the agent as it is now
  });

  it("what is odd about a new card is told once", async () => {
    let isOld = false;
    const { agent, warnings } = await meetPeer(
      wire,
      {},
      {
        peer: {
          ...staleAtOnce,
          tamper: (text) =>
            isOld ? JSON.stringify({ ...JSON.parse(text), defaultInputModes: ["text"] }) : text,
        },
      },
    );
    isOld = true;
    await agent.run("work");
    await agent.run("work");
    expect(warnings.filter((warning) => /media types/.test(warning))).toHaveLength(1);
  });
});
