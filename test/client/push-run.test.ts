// Runs by webhook: the message is sent once, its answer counts, and what was not delivered is not missing.

import { eventIdHeader } from "@a2a-connect/bindings";
import { InputRequiredError, RunTimeoutError } from "@a2a-connect/client";
import type { PushDelivery, PushReceiver } from "@a2a-connect/client/internal";
import { a2aError, partText } from "@a2a-connect/core";
import { type StreamResponse, TaskState } from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { connectOver, meetPeer } from "../conformance/client/every-operation.ts";
import {
  chunkEvent,
  type Peer,
  peerTask,
  statusEvent,
  taskAfter,
  taskAnswer,
  taskEvent,
  taskId,
} from "../conformance/client/peer.ts";
import { createLeapingClock, createManualClock } from "./client-clocks.ts";
import type { PeerService } from "./scripted-task.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const { CANCELED, COMPLETED, INPUT_REQUIRED, SUBMITTED, WORKING } = TaskState;

/** A webhook at which just these notifications arrive, and then nothing more: it waits, or it is closed. */
function receiverOf(deliveries: readonly PushDelivery[], then: "waits" | "closes" = "waits"): PushReceiver {
  return {
    open() {
      const over = Promise.withResolvers<void>();
      return {
        config: { url: "https://hook.example/", token: "of-this-run" },
        deliveries: (async function* () {
          yield* deliveries;
          if (then === "waits") await over.promise;
        })(),
        [Symbol.dispose]: () => over.resolve(),
      };
    },
  };
}

const silent = (): PushReceiver => receiverOf([]);

const story: readonly StreamResponse[] = [
  taskEvent(SUBMITTED),
  chunkEvent("story", "Once ", false),
  chunkEvent("story", "upon ", true),
  chunkEvent("story", "a time.", true),
  statusEvent(COMPLETED),
];

/** The story's notifications with these numbers, from 1. */
function notificationsOf(...ids: readonly number[]): readonly PushDelivery[] {
  return ids.flatMap((eventId) => {
    const response = story[eventId - 1];
    return response === undefined ? [] : [{ response, eventId }];
  });
}

/** Streams of the story, numbered, that go on after `Last-Event-ID`. */
const numbered: PeerService = {
  sendMessage: () => taskAnswer(peerTask(SUBMITTED)),
  async *subscribeToTask(_, { requestHeader, responseHeader }: HandlerContext) {
    const after = requestHeader.get("last-event-id");
    if (after === null) {
      responseHeader.set(eventIdHeader, String(story.length));
      yield { payload: { case: "task", value: taskAfter(...story) } };
      return;
    }
    responseHeader.set(eventIdHeader, String(Number(after) + 1));
    yield* story.slice(Number(after));
  },
  getTask: () => taskAfter(...story),
};

/** Streams of an agent that keeps to the letter: a task that has ended cannot be subscribed to, nor one that waits. */
const noStreams: PeerService = {
  subscribeToTask: () => {
    throw a2aError("UNSUPPORTED_OPERATION", "there is nothing to wait for");
  },
};

/** Every wait is over at once but those that end nothing here. */
const patient = { connectTimeoutMs: 3_600_000, idleTimeoutMs: 3_600_000 };

const callsOf = ({ requests }: Peer): readonly string[] => requests.map(({ method }) => method);

describe.each(wires)("over %s", (wire) => {
  describe("a message without a key is sent once, whatever becomes of the agent then", () => {
    it.each([
      ["speaks another version", () => a2aError("VERSION_NOT_SUPPORTED", "2.0 only")],
      ["wants an extension", () => a2aError("EXTENSION_SUPPORT_REQUIRED", "with that extension only")],
      ["has no such operations any more", () => new ConnectError("what?", Code.Unimplemented)],
    ])("%s", { timeout: 8_000 }, async (_, failure) => {
      const refuse = (): never => {
        throw failure();
      };
      const { peer, agent } = await meetPeer(
        wire,
        {
          sendMessage: () => taskAnswer(peerTask(WORKING)),
          getTask: refuse,
          subscribeToTask: refuse,
        },
        { retry: { initialDelayMs: 1, giveUpAfterMs: 200 } },
      );
      peer.card.version = "2.0.0"; // it is deployed anew
      const thrown = await rejectedWith(agent.run("go", { push: receiverOf([], "closes") }), Error);
      expect(thrown).not.toBeInstanceOf(TypeError);
      expect(callsOf(peer).filter((call) => call.startsWith("Send"))).toEqual(["SendMessage"]);
    });
  });

  it("a receiver that fails when the run is over costs nothing", async () => {
    const rest = [...notificationsOf(1, 2, 3, 4, 5)];
    const fail = (): Promise<never> => Promise.reject(new Error("xyzzy"));
    const deliveries: AsyncIterator<PushDelivery> = {
      async next() {
        const value = rest.shift();
        return value === undefined ? fail() : { done: false, value };
      },
      return: fail,
    };
    const push: PushReceiver = {
      open: () => ({
        config: { url: "https://hook.example/", token: "of-this-run" },
        deliveries: { [Symbol.asyncIterator]: () => deliveries },
        [Symbol.dispose]: () => {},
      }),
    };
    const { agent } = await meetPeer(wire, numbered);
    expect((await agent.run("go", { push })).text()).toBe("Once upon a time.");
  });

  describe("the task in the answer counts, before anything is delivered:", () => {
    it("one that has completed is the end", { timeout: 5_000 }, async () => {
      const task = taskAfter(...story);
      const clock = createManualClock(); // so no poll is ever due
      const { agent } = await meetPeer(
        wire,
        {
          ...noStreams,
          sendMessage: () => taskAnswer(task),
          getTask: () => task,
        },
        { clock },
      );
      const result = await agent.run("go", { push: silent() });
      expect(result.text()).toBe("Once upon a time.");
    });

    it("one that asks is answered", { timeout: 5_000 }, async () => {
      let task = taskAfter(taskEvent(SUBMITTED), statusEvent(INPUT_REQUIRED, "Which?"));
      const { peer, agent } = await meetPeer(
        wire,
        {
          ...noStreams,
          sendMessage: ({ message }) => {
            if (message?.taskId !== "") task = taskAfter(...story);
            return taskAnswer(task);
          },
          getTask: () => task,
        },
        { clock: createManualClock() },
      );
      const { message } = await rejectedWith(agent.run("go", { push: silent() }), InputRequiredError);
      expect(message).toContain("Which?");
      await using other = await connectOver(wire, peer, { clock: createLeapingClock(45_000), ...patient });
      const result = await other.run("go", { push: silent(), onInputRequired: () => "this" });
      expect(result.text()).toBe("Once upon a time.");
    });

    it("its id is told", { timeout: 5_000 }, async () => {
      const { agent } = await meetPeer(
        wire,
        { sendMessage: () => taskAnswer(peerTask(WORKING)) },
        { clock: createManualClock() },
      );
      const controller = new AbortController();
      const told: string[] = [];
      const reason = new Error("that is all we wanted to know");
      const run = agent.run("go", {
        push: silent(),
        signal: controller.signal,
        onTask: ({ id }) => {
          told.push(id);
          controller.abort(reason);
        },
      });
      expect(await failureOf(run)).toBe(reason);
      expect(told).toEqual([taskId]);
    });

    it("it is canceled with the run", { timeout: 5_000 }, async () => {
      const controller = new AbortController();
      const { peer, agent } = await meetPeer(
        wire,
        {
          sendMessage: () => taskAnswer(peerTask(WORKING)),
          cancelTask: () => peerTask(CANCELED),
        },
        { clock: createManualClock() },
      );
      const run = agent.run("go", {
        push: silent(),
        signal: controller.signal,
        cancelOnAbort: true,
        onTask: () => controller.abort(new Error("enough")),
      });
      expect(await failureOf(run)).toMatchObject({ message: "enough" });
      expect(callsOf(peer)).toEqual(["SendMessage", "CancelTask"]);
    });

    it("it is named when the time is over", { timeout: 5_000 }, async () => {
      const clock = createManualClock();
      const { agent } = await meetPeer(wire, { sendMessage: () => taskAnswer(peerTask(WORKING)) }, { clock });
      const known = Promise.withResolvers<void>();
      const run = agent.run("go", { push: silent(), deadlineMs: 300, onTask: () => known.resolve() });
      const failure = rejectedWith(run, RunTimeoutError);
      await known.promise;
      await clock.advance(300);
      const thrown = await failure;
      expect(thrown.taskId).toBe(taskId);
      expect(thrown.hint).toContain(taskId);
    });
  });

  describe("nothing is missing", () => {
    it.each([
      ["all were delivered", [1, 2, 3, 4, 5]],
      ["each was delivered twice", [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]],
      ["the task was not", [2, 3, 4, 5]],
      ["the first ones were not", [3, 4, 5]],
      ["only the last one was", [5]],
      ["one in between was not", [1, 2, 4, 5]],
      ["the last ones were not", [1, 2]],
      ["none was", []],
    ] as const)("when %s", { timeout: 5_000 }, async (_, ids) => {
      const clock = createLeapingClock(45_000);
      const began = clock.now();
      const { peer, agent } = await meetPeer(wire, numbered, { clock, ...patient });
      const chunks: string[] = [];
      const result = await agent.run("go", {
        push: receiverOf(notificationsOf(...ids)),
        onArtifact: ({ artifact }) => void chunks.push(artifact === undefined ? "" : partText(artifact)),
      });
      expect(chunks).toEqual(["Once ", "upon ", "a time."]);
      expect(result.text()).toBe("Once upon a time.");
      expect(clock.now() - began).toBeLessThanOrEqual(31_000); // silence is noticed within 30 s
      expect(callsOf(peer).filter((call) => call.startsWith("Send"))).toEqual(["SendMessage"]);
    });
  });

  it("a stream whose first events were lost is followed from the beginning", { timeout: 5_000 }, async () => {
    const { agent } = await meetPeer(wire, {
      ...numbered,
      async *sendStreamingMessage(_, { responseHeader }) {
        responseHeader.set(eventIdHeader, "3");
        yield* story.slice(2);
      },
    });
    const chunks: string[] = [];
    const result = await agent.run("go", {
      onArtifact: ({ artifact }) => void chunks.push(artifact === undefined ? "" : partText(artifact)),
    });
    expect(chunks).toEqual(["Once ", "upon ", "a time."]);
    expect(result.text()).toBe("Once upon a time.");
  });
});
