import type { ConnectOptions } from "@a2a-connect/client";
import { AuthRequiredError, InvalidResponseError } from "@a2a-connect/client";
import { partText } from "@a2a-connect/core";
import { Role, type StreamResponse, TaskState } from "@a2a-connect/proto";
import { expect } from "vitest";
import { collect, rejectedWith } from "../../../packages/client/test-support/outcomes.ts";
import { clientScenarios } from "./client-scenario.ts";
import { meetPeer } from "./every-operation.ts";
import {
  chunkEvent,
  events,
  peerEvent,
  statusEvent,
  taskAfter,
  taskEvent,
  taskId,
  textPart,
} from "./peer.ts";

const { WORKING, COMPLETED, AUTH_REQUIRED } = TaskState;

/** Broken streams come back at once. */
const atOnce: ConnectOptions = { retry: { initialDelayMs: 1, maxDelayMs: 2 } };

/** What the client makes of events, whoever sends them. */
export const streams = clientScenarios("Streams, as the client reads them", (verifies) => {
  verifies("A-23", "take a full task at any place of them: it stands for what it shows", async (wire) => {
    const upTo = (...chunks: readonly string[]) => ({
      artifacts: [{ artifactId: "story", parts: chunks.map(textPart) }],
    });
    const told = [
      taskEvent(WORKING),
      chunkEvent("story", "once ", false),
      taskEvent(WORKING, upTo("once ", "upon ")),
      chunkEvent("story", "a time", true),
      statusEvent(COMPLETED),
      taskEvent(COMPLETED, upTo("once ", "upon ", "a time")),
    ];
    const { agent } = await meetPeer(wire, {
      sendStreamingMessage: () => events(...told),
      getTask: () => taskAfter(...told),
    });
    const stream = agent.stream("tell");
    const seen = await collect(stream);
    expect(seen[0]?.payload.case).toBe("task");
    expect(seen.flatMap(wordsOf)).toEqual(["once ", "upon ", "a time"]);
    expect(stream.task?.status?.state).toBe(COMPLETED);
    expect(stream.task?.artifacts.map(partText)).toEqual(["once upon a time"]);
    expect((await agent.run("tell")).text()).toBe("once upon a time");
  });

  verifies(
    "A-29",
    "make and replace artifacts, and add to them, also to one that nobody has made",
    async (wire) => {
      const { agent } = await meetPeer(wire, {
        sendStreamingMessage: () =>
          events(
            taskEvent(WORKING),
            chunkEvent("draft", "wrong", false),
            chunkEvent("draft", "right", false),
            chunkEvent("draft", " enough", true),
            chunkEvent("late", "made", true),
            peerEvent({
              case: "artifactUpdate",
              value: {
                artifact: { artifactId: "late", parts: [textPart(" and closed")] },
                append: true,
                lastChunk: true,
              },
            }),
            statusEvent(COMPLETED),
          ),
      });
      const stream = agent.stream("tell");
      const last = (await collect(stream)).flatMap(({ payload }) =>
        payload.case === "artifactUpdate" ? [payload.value.lastChunk] : [],
      );
      expect(stream.task?.artifacts.map((each) => [each.artifactId, partText(each)])).toEqual([
        ["draft", "right enough"],
        ["late", "made and closed"],
      ]);
      expect(last).toEqual([false, false, false, false, true]);
    },
  );

  verifies("A-36", "are opened again when they end too early, and never after the end", async (wire) => {
    const artifacts = [{ artifactId: "story", parts: [textPart("once "), textPart("more")] }];
    const { peer, agent } = await meetPeer(
      wire,
      {
        sendStreamingMessage: () => events(taskEvent(WORKING), chunkEvent("story", "once ", false)),
        subscribeToTask: () => events(taskEvent(WORKING, { artifacts }), statusEvent(COMPLETED)),
      },
      atOnce,
    );
    const stream = agent.stream("tell");
    const seen = await collect(stream);
    expect(peer.requests.map(({ method }) => method)).toEqual(["SendStreamingMessage", "SubscribeToTask"]);
    // What was missed is delivered once, and what was known is not delivered again.
    expect(seen.flatMap(wordsOf)).toEqual(["once ", "more"]);
    expect(stream.task?.artifacts.map(partText)).toEqual(["once more"]);
  });

  verifies("A-1 A-21", "may be one direct message, and a send as well", async (wire) => {
    const message = { messageId: "m", role: Role.AGENT, parts: [textPart("hi")] };
    const { agent } = await meetPeer(wire, {
      sendMessage: () => ({ payload: { case: "message", value: message } }),
      sendStreamingMessage: () => events(peerEvent({ case: "message", value: message })),
    });
    const { payload } = await agent.sendMessage("hello");
    expect(payload.case).toBe("message");
    expect((await collect(agent.stream("hello"))).map((event) => event.payload.case)).toEqual(["message"]);
    expect((await agent.run("hello")).text()).toBe("hi");
  });

  verifies("A-1", "are refused when an answer is neither a task nor a message", async (wire) => {
    const { agent } = await meetPeer(
      wire,
      {
        sendMessage: () => ({}),
        sendStreamingMessage: () => events(peerEvent({ case: undefined })),
      },
      atOnce,
    );
    await rejectedWith(agent.sendMessage("hello"), InvalidResponseError);
    await rejectedWith(collect(agent.stream("hello")), InvalidResponseError);
  });

  verifies(
    "O-8",
    "tell of AUTH_REQUIRED by a name of its own, and the task can be gone on with",
    async (wire) => {
      const { agent } = await meetPeer(
        wire,
        {
          sendStreamingMessage: () => events(taskEvent(WORKING), statusEvent(AUTH_REQUIRED, "sign in")),
          subscribeToTask: () =>
            events(taskEvent(AUTH_REQUIRED), statusEvent(WORKING), statusEvent(COMPLETED)),
          getTask: () => taskAfter(statusEvent(AUTH_REQUIRED, "sign in")),
        },
        atOnce,
      );
      const thrown = await rejectedWith(agent.run("tell"), AuthRequiredError);
      expect([thrown.taskId, thrown.message]).toEqual([taskId, expect.stringContaining("sign in")]);
      const followed = agent.follow(taskId);
      await collect(followed);
      expect(followed.task?.status?.state).toBe(COMPLETED);
    },
  );

  verifies("O-8", "go on by themselves once the credentials are where the agent finds them", async (wire) => {
    const before = [taskEvent(WORKING), statusEvent(AUTH_REQUIRED, "sign in")];
    const after = [statusEvent(WORKING), chunkEvent("secret", "42", false), statusEvent(COMPLETED)];
    let signedIn = false;
    const { peer, agent } = await meetPeer(
      wire,
      {
        sendStreamingMessage: () => events(...before),
        subscribeToTask: () =>
          events(peerEvent({ case: "task", value: taskAfter(...before) }), ...(signedIn ? after : [])),
        getTask: () => taskAfter(...before, ...(signedIn ? after : [])),
      },
      atOnce,
    );
    const asked: string[] = [];
    const result = await agent.run("tell", {
      onAuthRequired: ({ kind }) => {
        asked.push(kind);
        signedIn = true;
        return { resolved: true };
      },
    });
    expect(asked).toEqual(["auth"]);
    expect(result.text()).toBe("42");
    const sends = peer.requests.filter(({ method }) => method.startsWith("Send"));
    expect(sends.map(({ method }) => method)).toEqual(["SendStreamingMessage"]);
  });
});

/** The words that an event adds to an artifact. */
function wordsOf({ payload }: StreamResponse): readonly string[] {
  return payload.case === "artifactUpdate" && payload.value.artifact !== undefined
    ? [partText(payload.value.artifact)]
    : [];
}
