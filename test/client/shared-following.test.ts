// Followers of one task in one client: they share one stream or poll, and each sees all that it would see alone.

import { setImmediate as nextTurn } from "node:timers/promises";
import { eventIdHeader } from "@a2a-connect/bindings";
import type { AgentClient, TaskStream } from "@a2a-connect/client";
import { formatTaskState, partText } from "@a2a-connect/core";
import { type AgentCard, type StreamResponse, TaskState } from "@a2a-connect/proto";
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

const unstreamed = {
  editCard: ({ capabilities }: AgentCard) => {
    if (capabilities !== undefined) capabilities.streaming = false;
  },
};

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
        peer: unstreamed,
      },
    );
    const all = [agent.follow(taskId), agent.follow(taskId), agent.follow(taskId)].map((stream) =>
      collect(stream),
    );
    for (let interval = 1; interval <= 4; interval += 1) {
      await expect.poll(() => calls).toBe(interval);
      await nextTurn(); // the answer reaches all of them
      if (interval === 3) state = COMPLETED;
      await clock.advance(interval < 4 ? 2_000 : 0);
    }
    for (const events of await Promise.all(all)) expect(events.map(summarize)).toEqual(["task", "completed"]);
    expect(calls).toBe(4);
  });
});

/** A platform whose turns are given one by one once they are held. */
function createTurns() {
  const waiting: (() => void)[] = [];
  let isHeld = false;
  let asked = 0;
  const turn = () => {
    asked += 1;
    return isHeld ? new Promise<void>((resolve) => waiting.push(resolve)) : undefined;
  };
  return {
    platform: { turn },
    get asked() {
      return asked;
    },
    hold() {
      isHeld = true;
    },
    /** Gives so many turns. Never does more than one follower of a task wait for one. */
    async give(count: number) {
      for (let given = 0; given < count; given += 1) {
        await expect.poll(() => waiting.length).toBe(1);
        waiting.shift()?.();
        await nextTurn();
      }
    },
  };
}

describe("turns of the platform", { timeout: 10_000 }, () => {
  const count = 30;
  const followAll = (agent: AgentClient) => Array.from({ length: count }, () => agent.follow(taskId));

  it("one follower after the other goes on with an event of a stream", async () => {
    const turns = createTurns();
    const task = scriptTask();
    task.tell(...begun);
    const { agent } = await meetPeer("jsonrpc", task.service, { platform: turns.platform });
    const readers = await Promise.all(followAll(agent).map((stream) => readTo(stream, () => true)));
    turns.hold();
    const rests = readers.map(({ rest }) => rest());
    const gone = () => readers.reduce((sum, { seen }) => sum + seen.length - 1, 0);
    task.tell(chunkEvent("story", "One.", false), statusEvent(COMPLETED));
    for (let given = 0; given < 2 * count; given += 1) {
      expect(gone()).toBe(given);
      await turns.give(1);
    }
    for (const seen of await Promise.all(rests)) expect(seen).toEqual(["task", "One.", "completed"]);
  });

  it("one follower after the other goes on with the answer to a poll, or its failure", async () => {
    const [turns, clock] = [createTurns(), createManualClock()];
    let calls = 0;
    const allAsk = Promise.withResolvers<void>();
    const getTask = async () => {
      calls += 1;
      if (calls === 1) return peerTask(WORKING);
      await allAsk.promise;
      throw new ConnectError("not any more", Code.PermissionDenied);
    };
    const { agent } = await meetPeer(
      "jsonrpc",
      { getTask },
      { clock, platform: turns.platform, peer: unstreamed },
    );
    turns.hold();
    let [seen, failed] = [0, 0];
    const all = followAll(agent).map(async (stream) => {
      try {
        for await (const _ of stream) seen += 1;
      } catch (error) {
        failed += 1;
        throw error;
      }
    });
    const ends = Promise.allSettled(all);
    for (let given = 0; given < count; given += 1) {
      expect(seen).toBe(given);
      await turns.give(1);
    }
    await clock.advance(2_000);
    allAsk.resolve();
    for (let given = 0; given < count; given += 1) {
      expect(failed).toBe(given);
      await turns.give(1);
    }
    for (const { status } of await ends) expect(status).toBe("rejected");
    expect(calls).toBe(2);
  });

  it("one that leaves waits for no turn, and takes none from the others", async () => {
    const turns = createTurns();
    const task = scriptTask();
    task.tell(...begun);
    const { agent } = await meetPeer("jsonrpc", task.service, { platform: turns.platform });
    const [first, ...others] = await Promise.all(
      followAll(agent).map((stream) => readTo(stream, () => true)),
    );
    turns.hold();
    const pending = first?.rest();
    const leaving = others.map(({ iterator }) => iterator.next());
    task.tell(statusEvent(COMPLETED));
    await turns.give(1); // of the first one
    expect(await pending).toEqual(["task", "completed"]);
    const last = leaving.pop();
    for (const { iterator } of others.slice(0, -1)) {
      expect(await iterator.return?.()).toMatchObject({ done: true });
    }
    for (const end of leaving) expect(await end).toMatchObject({ done: true });
    await turns.give(2); // one of those that have left was the next
    expect((await last)?.value).toMatchObject({ payload: { case: "statusUpdate" } });
  });

  it.each(["stream", "poll"])("a single follower waits for none (%s)", async (source) => {
    const turns = createTurns();
    const task = scriptTask();
    task.tell(...begun);
    const [options, clock] = [source === "stream" ? {} : { peer: unstreamed }, createManualClock()];
    const { agent } = await meetPeer("jsonrpc", task.service, {
      clock,
      platform: turns.platform,
      ...options,
    });
    const { asked } = turns;
    turns.hold();
    const { rest } = await readTo(agent.follow(taskId), () => true);
    const end = rest();
    task.tell(statusEvent(COMPLETED));
    await clock.advance(2_000);
    expect(await end).toEqual(["task", "completed"]);
    expect(turns.asked).toBe(asked);
  });
});
