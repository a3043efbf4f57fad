// What happens while nobody looks: the task before and after is compared, and callers hear of all of the difference.

import { formatTaskState, lifecycleExtension, partText } from "@a2a-connect/core";
import {
  AgentExtensionSchema,
  type Artifact,
  ArtifactSchema,
  type StreamResponse,
  type Task,
  TaskState,
} from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { collect } from "../../packages/client/test-support/outcomes.ts";
import { meetPeer } from "../conformance/client/every-operation.ts";
import { peerEvent, peerTask, taskAnswer, taskId, textPart } from "../conformance/client/peer.ts";
import type { PeerService } from "./scripted-task.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const { COMPLETED, INPUT_REQUIRED, SUBMITTED, WORKING } = TaskState;

/** What a card has that takes each message once. */
const lifecycleWithKeys = create(AgentExtensionSchema, {
  uri: lifecycleExtension,
  params: { idempotencyKeys: true },
});

type ArtifactInit = MessageInitShape<typeof ArtifactSchema>;

function snapshot(state: TaskState, ...artifacts: readonly ArtifactInit[]): Task {
  const task = peerTask(state);
  task.artifacts.push(...artifacts.map((artifact) => create(ArtifactSchema, artifact)));
  return task;
}

const artifact = (artifactId: string, ...words: readonly string[]): ArtifactInit => ({
  artifactId,
  parts: words.map(textPart),
});

const asEvent = (value: Task): StreamResponse => peerEvent({ case: "task", value });

/** Each connection shows one more of these and breaks, the last one again and again; so does each GetTask. */
function showing(...snapshots: readonly Task[]): PeerService {
  let shown = 0;
  const next = (): Task => {
    const task = snapshots[Math.min(shown, snapshots.length - 1)] ?? peerTask(COMPLETED);
    shown += 1;
    return task;
  };
  const show = async function* (): AsyncGenerator<StreamResponse, void> {
    yield asEvent(next());
    throw new ConnectError("the connection broke", Code.Aborted);
  };
  return {
    sendStreamingMessage: show,
    subscribeToTask: show,
    sendMessage: () => taskAnswer(next()),
    getTask: next,
  };
}

/** Of an event what callers act on. */
function summarize({ payload }: StreamResponse): string {
  switch (payload.case) {
    case "statusUpdate":
      return formatTaskState(payload.value.status?.state ?? TaskState.UNSPECIFIED);
    case "artifactUpdate":
      return describeUpdate(payload.value.artifact, payload.value.append);
    default:
      return payload.case ?? "nothing";
  }
}

function describeUpdate(update: Artifact | undefined, append: boolean): string {
  return `${update?.artifactId}${append ? " +" : " ="} ${update === undefined ? "" : partText(update)}`;
}

describe.each(wires)("over %s", (wire) => {
  const whileAway = [
    snapshot(WORKING, artifact("one", "a")),
    snapshot(COMPLETED, artifact("one", "a", "b"), artifact("two", "c"), artifact("three", "d")),
  ];
  const difference = ["one + b", "two = c", "three = d", "completed"];

  it.each([
    ["stream", false],
    ["stream with a key", true],
    ["follow", false],
  ] as const)("each event of a %s is given that stands for a snapshot at the end", async (how, keys) => {
    const { agent } = await meetPeer(wire, showing(...whileAway), {
      peer: {
        editCard: ({ capabilities }) => {
          if (keys) capabilities?.extensions.push(lifecycleWithKeys);
        },
      },
    });
    const events = how === "follow" ? agent.follow(taskId) : agent.stream("go", { until: "terminal" });
    expect((await collect(events)).map(summarize)).toEqual(["task", ...difference]);
  });

  it("each event up to a question is given", async () => {
    const { agent } = await meetPeer(
      wire,
      showing(snapshot(SUBMITTED), snapshot(INPUT_REQUIRED, artifact("one", "a"), artifact("two", "b"))),
    );
    expect((await collect(agent.stream("go"))).map(summarize)).toEqual([
      "task",
      "one = a",
      "two = b",
      formatTaskState(INPUT_REQUIRED),
    ]);
  });

  it.each([
    ["at once, by a stream", true, [snapshot(COMPLETED, artifact("one", "a"), artifact("two", "b"))]],
    ["at once, without streams", false, [snapshot(COMPLETED, artifact("one", "a"), artifact("two", "b"))]],
    [
      "after a while, by streams that break",
      true,
      [snapshot(WORKING), snapshot(COMPLETED, artifact("one", "a"), artifact("two", "b"))],
    ],
    [
      "after a while, without streams",
      false,
      [snapshot(WORKING), snapshot(COMPLETED, artifact("one", "a"), artifact("two", "b"))],
    ],
  ] as const)("callbacks hear of what is done %s", async (_, streaming, snapshots) => {
    const { agent } = await meetPeer(wire, showing(...snapshots), {
      peer: {
        editCard: ({ capabilities }) => {
          if (capabilities !== undefined) capabilities.streaming = streaming;
        },
      },
    });
    const told: string[] = [];
    await agent.run("go", {
      pollIntervalMs: 5,
      allowFastPolling: true,
      onTask: () => void told.push("task"),
      onArtifact: (update) => void told.push(describeUpdate(update.artifact, update.append)),
      onProgress: ({ status }) => void told.push(formatTaskState(status?.state ?? TaskState.UNSPECIFIED)),
    });
    expect(told[0]).toBe("task");
    expect(told.filter((each) => each.includes(" = "))).toEqual(["one = a", "two = b"]);
    expect(told.filter((each) => each === "completed")).toHaveLength(1);
  });

  it("an artifact that has another name or other metadata is told of", async () => {
    const { agent } = await meetPeer(
      wire,
      showing(
        snapshot(WORKING, { ...artifact("one", "a"), name: "draft" }, artifact("two", "b")),
        snapshot(WORKING, { ...artifact("one", "a"), name: "final" }, artifact("two", "b")),
        snapshot(
          COMPLETED,
          { ...artifact("one", "a"), name: "final" },
          { ...artifact("two", "b"), metadata: { checked: true } },
        ),
      ),
    );
    const following = agent.follow(taskId);
    const updates = (await collect(following)).flatMap(({ payload }) =>
      payload.case === "artifactUpdate" ? [payload.value] : [],
    );
    expect(updates.map((update) => update.artifact?.name || update.artifact?.metadata)).toEqual([
      "final",
      { checked: true },
    ]);
    expect(following.task?.artifacts.map(partText)).toEqual(["a", "b"]);
    expect(following.task?.artifacts[0]?.name).toBe("final");
  });

  it("what nobody adds to any more is marked as the last of its artifact", async () => {
    const { agent } = await meetPeer(wire, showing(...whileAway));
    const last = (await collect(agent.follow(taskId))).flatMap(({ payload }) =>
      payload.case === "artifactUpdate" ? [payload.value.lastChunk] : [],
    );
    expect(last).toEqual([true, true, true]);
  });

  it("a person is asked once for each thing, over however many connections it comes", async () => {
    const asked: string[] = [];
    const { agent } = await meetPeer(
      wire,
      showing(
        snapshot(WORKING, artifact("one", "a")),
        snapshot(WORKING, artifact("one", "a", "b")),
        snapshot(WORKING, artifact("one", "a", "b")),
        snapshot(COMPLETED, artifact("one", "a", "b")),
      ),
      {
        inspect(inspected) {
          asked.push(
            inspected.kind === "part" && inspected.part.content.case === "text"
              ? `part ${inspected.part.content.value}`
              : inspected.kind,
          );
        },
      },
    );
    await agent.run("go");
    expect(asked.filter((each) => each.startsWith("part")).toSorted()).toEqual(["part a", "part b"]);
    expect(asked.filter((each) => each === "card")).toHaveLength(1);
  });
});
