// Followers of one task in one client: they share one stream or poll, and each sees all that it would see alone.

import { eventIdHeader } from "@a2a-connect/bindings";
import type { TaskStream } from "@a2a-connect/client";
import { formatTaskState, partText } from "@a2a-connect/core";
import { type StreamResponse, TaskState } from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { collect } from "../../packages/client/test-support/outcomes.ts";
import { meetPeer } from "../conformance/client/every-operation.ts";
import { chunkEvent, peerTask, statusEvent, taskEvent, taskId } from "../conformance/client/peer.ts";
import { createManualClock } from "./client-clocks.ts";
import { type PeerService, scriptTask } from "./scripted-task.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const { COMPLETED, SUBMITTED, WORKING } = TaskState;

const begun = [taskEvent(SUBMITTED), statusEvent(WORKING)];

function summarize({ payload }: StreamResponse): string {
  switch (payload.case) {
    case "statusUpdate":
      return formatTaskState(payload.value.status?.state ?? TaskState.UNSPECIFIED);
    case "artifactUpdate":
      return payload.value.artifact === undefined ? "" : partText(payload.value.artifact);
    default:
      return payload.case ?? "nothing";
  }
}

/** Reads a stream up to an event, and then to its end. */
async function readTo(stream: TaskStream, isLast: (event: string) => boolean) {
  const iterator = stream[Symbol.asyncIterator]();
  const seen: string[] = [];
  do {
    const { value, done } = await iterator.next();
    if (done === true) throw new Error("the stream ended too soon");
    seen.push(summarize(value));
  } while (!isLast(seen.at(-1) ?? ""));
  const rest = async () => {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      seen.push(summarize(next.value));
    }
    return seen;
  };
  return { seen, iterator, rest };
}

/** How a task is streamed whose events are numbered. */
function numbered(log: readonly StreamResponse[], opened: (string | null)[]): PeerService {
  return {
    async *subscribeToTask(_, { requestHeader, responseHeader, signal }: HandlerContext) {
      const after = requestHeader.get("last-event-id");
      opened.push(after);
      responseHeader.set(eventIdHeader, String(Number(after) + 1));
      yield* log.slice(Number(after));
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  };
}

describe.each(wires)("over %s", { timeout: 5_000 }, (wire) => {
  it("followers that begin together share a stream, and each gets all events", async () => {
    const task = scriptTask();
    task.tell(...begun);
    const { peer, agent } = await meetPeer(wire, task.service);
    const streams = [agent.follow(taskId), agent.follow(taskId), agent.follow(taskId)];
    const readers = await Promise.all(streams.map((stream) => readTo(stream, () => true)));
    const rests = readers.map(({ rest }) => rest());
    task.tell(chunkEvent("story", "One.", false), statusEvent(COMPLETED));
    for (const seen of await Promise.all(rests)) expect(seen).toEqual(["task", "One.", "completed"]);
    for (const stream of streams) expect(stream.task?.artifacts.map(partText)).toEqual(["One."]);
    expect(peer.requests.filter(({ method }) => method === "SubscribeToTask")).toHaveLength(1);
  });

  it("one that comes later gets the task as it is, and then the same events", async () => {
    const task = scriptTask();
    task.tell(...begun);
    const { peer, agent } = await meetPeer(wire, task.service);
    const first = await readTo(agent.follow(taskId), () => true);
    task.tell(chunkEvent("story", "One. ", false));
    const pending = first.rest(); // it waits for what comes next
    await expect.poll(() => first.seen).toEqual(["task", "One. "]);
    const late = agent.follow(taskId);
    const second = await readTo(late, () => true);
    expect(late.task?.artifacts.map(partText)).toEqual(["One. "]);
    task.tell(chunkEvent("story", "Two.", true), statusEvent(COMPLETED));
    expect(await second.rest()).toEqual(["task", "Two.", "completed"]);
    expect(await pending).toEqual(["task", "One. ", "Two.", "completed"]);
    expect(late.task?.artifacts.map(partText)).toEqual(["One. Two."]);
    expect(peer.requests.filter(({ method }) => method === "SubscribeToTask")).toHaveLength(1);
  });

  it("one that leaves does not end the stream of the others, and the last one does", async () => {
    const task = scriptTask();
    task.tell(...begun);
    const ended = Promise.withResolvers<void>();
    const { agent } = await meetPeer(wire, {
      ...task.service,
      async *subscribeToTask(request, context) {
        context.signal.addEventListener("abort", () => ended.resolve());
        yield* (task.service.subscribeToTask as NonNullable<PeerService["subscribeToTask"]>)(
          request,
          context,
        );
      },
    });
    const [first, second] = await Promise.all([
      readTo(agent.follow(taskId), () => true),
      readTo(agent.follow(taskId), () => true),
    ]);
    const waiting = first.iterator.next();
    expect(await first.iterator.return?.()).toMatchObject({ done: true });
    expect(await waiting).toMatchObject({ done: true });
    task.tell(statusEvent(WORKING, "on"));
    expect((await second.iterator.next()).value).toMatchObject({ payload: { case: "statusUpdate" } });
    await second.iterator.return?.();
    await ended.promise;
  });

  it("one that knows less than the stream brings has a stream of its own", async () => {
    const opened: (string | null)[] = [];
    const log = [taskEvent(SUBMITTED), statusEvent(WORKING), chunkEvent("story", "One.", false)];
    const { agent } = await meetPeer(wire, numbered(log, opened));
    const first = await readTo(agent.follow(taskId, { after: 0 }), (event) => event === "One.");
    const waiting = first.iterator.next();
    const second = await readTo(agent.follow(taskId, { after: 1 }), (event) => event === "One.");
    expect(first.seen).toEqual(["task", "working", "One."]);
    expect(second.seen).toEqual(["working", "One."]);
    const third = agent.follow(taskId, { after: 3 })[Symbol.asyncIterator]();
    const silent = third.next(); // it knows all that the streams have brought
    expect(opened).toEqual(["0", "1"]);
    for (const iterator of [first.iterator, second.iterator, third]) await iterator.return?.();
    expect([await waiting, await silent]).toMatchObject([{ done: true }, { done: true }]);
  });

  it("one with headers of its own has a stream of its own", async () => {
    const task = scriptTask();
    task.tell(...begun);
    const { peer, agent } = await meetPeer(wire, task.service);
    const streams = [agent.follow(taskId), agent.follow(taskId, { headers: { "x-tenant": "b" } })];
    const readers = await Promise.all(streams.map((stream) => readTo(stream, () => true)));
    task.tell(statusEvent(COMPLETED));
    await Promise.all(readers.map(({ rest }) => rest()));
    expect(peer.requests.filter(({ method }) => method === "SubscribeToTask")).toHaveLength(2);
  });

  it("a stream that breaks is opened once more for all of them", async () => {
    const task = scriptTask();
    task.tell(...begun);
    const breaks = Promise.withResolvers<void>();
    let opened = 0;
    const { agent } = await meetPeer(wire, {
      ...task.service,
      async *subscribeToTask(request, context) {
        opened += 1;
        if (opened === 1) {
          yield { payload: { case: "task", value: task.current } };
          await breaks.promise;
          throw new ConnectError("the connection broke", Code.Unavailable);
        }
        yield* (task.service.subscribeToTask as NonNullable<PeerService["subscribeToTask"]>)(
          request,
          context,
        );
      },
    });
    const readers = await Promise.all(
      [agent.follow(taskId), agent.follow(taskId)].map((stream) => readTo(stream, () => true)),
    );
    const rests = readers.map(({ rest }) => rest());
    task.tell(chunkEvent("story", "One.", false));
    breaks.resolve();
    await expect.poll(() => readers.map(({ seen }) => seen.at(-1))).toEqual(["One.", "One."]);
    task.tell(statusEvent(COMPLETED));
    for (const seen of await Promise.all(rests)) expect(seen).toEqual(["task", "One.", "completed"]);
    expect(opened).toBeLessThanOrEqual(3); // jitter may part them
  });

  it("followers without a stream ask once in each interval", async () => {
    const clock = createManualClock();
    let calls = 0;
    let state: TaskState = WORKING;
    const { agent } = await meetPeer(
      wire,
      {
        getTask: () => {
          calls += 1;
          return peerTask(state);
        },
      },
      {
        clock,
        peer: {
          editCard: ({ capabilities }) => {
            if (capabilities !== undefined) capabilities.streaming = false;
          },
        },
      },
    );
    const all = [agent.follow(taskId), agent.follow(taskId), agent.follow(taskId)].map((stream) =>
      collect(stream),
    );
    for (let interval = 1; interval <= 4; interval += 1) {
      await expect.poll(() => calls).toBe(interval);
      await new Promise((resolve) => setImmediate(resolve)); // the answer reaches all of them
      if (interval === 3) state = COMPLETED;
      await clock.advance(interval < 4 ? 2_000 : 0);
    }
    for (const events of await Promise.all(all)) expect(events.map(summarize)).toEqual(["task", "completed"]);
    expect(calls).toBe(4);
  });
});
