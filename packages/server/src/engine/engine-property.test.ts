import { applyStep, isTerminal, lifecycleExtension } from "@a2a-connect/core";
import {
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskSchema,
  TaskState,
} from "@a2a-connect/proto";
import {
  createEngineHarness,
  createFakeClock,
  type EngineHarness,
  type FakeClock,
  readStream,
  type StreamReader,
  say,
} from "@a2a-connect/testing";
import { toBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { TurnEvent } from "../agent/task-event.ts";
import type { Turn } from "../agent/turn.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";
import { decodeEvent, foldStoredTask } from "./log-codec.ts";

const owner = { tenant: "", principal: "anonymous" };

/** What an executor does, one after the other; afterwards it returns. */
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant("working" as const), words: fc.constantFrom("", "so far") }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constantFrom("append" as const, "continue" as const, "artifact" as const),
      id: fc.constantFrom("a", "b"),
      words: fc.string({ minLength: 1, maxLength: 40 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 50, 300, 20_000),
      deaf: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constantFrom(
        "inputRequired",
        "authRequired",
        "complete",
        "fail",
        "reject",
        "reply",
        "throw",
        "mistake",
      ),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What callers do, one after the other; `task` picks one of those that are known by then. */
const action = fc.oneof(
  fc.record({
    does: fc.constantFrom("send" as const, "stream" as const, "immediately" as const),
    task: fc.option(fc.nat(5), { nil: undefined }),
    steps: fc.array(step, { maxLength: 8 }),
    deadlineMs: fc.option(fc.constantFrom(-5, 100, 5_000), { nil: undefined, freq: 8 }),
  }),
  fc.record({
    does: fc.constantFrom("subscribe" as const, "cancel" as const, "get" as const, "hangUp" as const),
    task: fc.nat(5),
  }),
  fc.record({ does: fc.constant("advance" as const), ms: fc.constantFrom(0, 1, 60, 250, 10_000, 700_000) }),
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

async function* play(turn: Turn, steps: readonly Step[], clock: FakeClock): AsyncGenerator<TurnEvent> {
  for (const each of steps) {
    switch (each.does) {
      case "working":
        yield turn.working(each.words === "" ? [] : each.words);
        break;
      case "append":
        yield turn.append(each.id, each.words);
        break;
      case "continue":
        yield turn.append(each.id, each.words, { continue: true });
        break;
      case "artifact":
        yield turn.artifact({ id: each.id, text: each.words });
        break;
      case "wait":
        await wait(clock, each.ms, each.deaf ? undefined : turn.signal);
        break;
      case "throw":
        throw new Error("thrown by the script");
      case "mistake":
        yield turn.inputRequired([]);
        break;
      case "complete":
        yield turn.complete();
        break;
      case "inputRequired":
      case "authRequired":
      case "fail":
      case "reject":
      case "reply":
        yield turn[each.does]("words");
        break;
    }
  }
}

function wait(clock: FakeClock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(ms, resolve);
    signal?.addEventListener("abort", () => {
      cancel();
      reject(signal.reason);
    });
    if (signal?.aborted === true) {
      cancel();
      reject(signal.reason);
    }
  });
}

interface Opened {
  readonly kind: "send" | "subscribe";
  readonly reader: StreamReader;
  hungUp: boolean;
}

/** Everything that callers did and got. */
class Callers {
  readonly streams: Opened[] = [];
  readonly calls: Promise<unknown>[] = [];
  readonly taskIds: string[] = [];
  readonly #harness: EngineHarness;
  readonly #plans: Map<string, readonly Step[]>;

  constructor(harness: EngineHarness, plans: Map<string, readonly Step[]>) {
    this.#harness = harness;
    this.#plans = plans;
  }

  async act(action: Action): Promise<void> {
    const { client, clock } = this.#harness;
    if (action.does === "advance") {
      return clock.advance(action.ms);
    }
    const id =
      action.task === undefined ? undefined : this.taskIds[action.task % Math.max(1, this.taskIds.length)];
    switch (action.does) {
      case "send":
      case "immediately":
      case "stream":
        return this.#send(action.does, id ?? "", action.steps, action.deadlineMs);
      case "subscribe":
        return this.#open("subscribe", (signal) => client.subscribeToTask({ id: id ?? "none" }, { signal }));
      case "cancel":
        return this.#call(client.cancelTask({ id: id ?? "none" }));
      case "get":
        return this.#call(client.getTask({ id: id ?? "none" }));
      case "hangUp": {
        const stream = this.streams[action.task % Math.max(1, this.streams.length)];
        if (stream !== undefined) {
          stream.hungUp = stream.reader.open;
          stream.reader.hangUp();
        }
      }
    }
  }

  #send(
    how: "send" | "immediately" | "stream",
    taskId: string,
    steps: readonly Step[],
    deadlineMs?: number,
  ): void {
    const { client, clock } = this.#harness;
    const messageId = `m-${this.#plans.size}`;
    this.#plans.set(messageId, steps);
    const deadline = deadlineMs === undefined ? undefined : new Date(clock.now() + deadlineMs).toISOString();
    const request = say("go", {
      messageId,
      taskId,
      ...(deadline === undefined ? {} : { metadata: { [lifecycleExtension]: { deadline } } }),
    });
    if (how === "stream") {
      this.#open("send", (signal) => client.sendStreamingMessage(request, { signal }));
      return;
    }
    this.#call(
      client.sendMessage({ ...request, configuration: { returnImmediately: how === "immediately" } }),
    );
  }

  #open(kind: Opened["kind"], call: Parameters<typeof readStream>[0]): void {
    this.streams.push({ kind, reader: readStream(call), hungUp: false });
  }

  /** Every call answers, and an error is one for callers. */
  #call(call: Promise<unknown>): void {
    this.calls.push(call.catch((error: unknown) => expect(error).toBeInstanceOf(ConnectError)));
  }
}

const encode = (event: StreamResponse) =>
  Buffer.from(toBinary(StreamResponseSchema, event)).toString("base64");
const encodeTask = (task: Task) => Buffer.from(toBinary(TaskSchema, task)).toString("base64");

function stateOf({ payload }: StreamResponse): TaskState {
  const status =
    payload.case === "task" || payload.case === "statusUpdate" ? payload.value.status : undefined;
  return status?.state ?? TaskState.UNSPECIFIED;
}

it("keeps every promise to callers, whatever executors and callers do (A-22, A-24, A-25, A-34, B-2, B-3, R-1)", async () => {
  const scenario = fc.record({
    actions: fc.array(action, { minLength: 1, maxLength: 14 }),
    maxTailBytes: fc.constantFrom(1, 300, 100_000),
    maxUncommitted: fc.constantFrom(1, 3),
    maxRunning: fc.constantFrom(1, 2, 50),
  });
  const seen = { tasks: 0, canceled: 0, followUps: 0, streams: 0, behind: 0 };
  await fc.assert(
    fc.asyncProperty(scenario, async ({ actions, ...limits }) => {
      const clock = createFakeClock();
      const plans = new Map<string, readonly Step[]>();
      const memory = createMemoryTaskStore();
      const harness = await createEngineHarness({
        agent: {
          card: { name: "Agent" },
          execute: (turn) => play(turn, plans.get(turn.message.messageId) ?? [], clock),
        },
        clock,
        limits,
        store: {
          ...memory,
          async commit(commit) {
            await clock.nextTurn();
            return memory.commit(commit);
          },
          events(...args) {
            seen.behind += 1;
            return memory.events(...args);
          },
        },
      });
      const callers = new Callers(harness, plans);
      const { client } = harness;
      for (const each of actions) {
        await callers.act(each);
        const { tasks } = await client.listTasks({ pageSize: 100 });
        callers.taskIds.splice(0, Number.POSITIVE_INFINITY, ...tasks.map(({ id }) => id).sort());
      }
      // Questions time out and abandoned executors are given up: whatever was begun ends.
      await clock.advance(3_600_000);
      await clock.advance(3_600_000);
      await Promise.all(callers.calls);
      expect(clock.alarms).toBe(0);

      const { tasks } = await client.listTasks({ pageSize: 100 });
      const logs = new Map<string, readonly StreamResponse[]>();
      for (const { id } of tasks) {
        const events = await memory.events(owner, id, 0, 10_000);
        const log = events.map(decodeEvent);
        logs.set(id, log);
        const stored = await memory.find(owner, id, "full");
        const task = await client.getTask({ id });
        seen.tasks += 1;
        seen.canceled += task.status?.state === TaskState.CANCELED ? 1 : 0;
        seen.followUps += task.history.length > 1 ? 1 : 0;
        expect(events.map(({ generation }) => generation)).toEqual(events.map((_, at) => at + 1));
        expect(log.map((event) => isTerminal(stateOf(event))).indexOf(true)).toBe(log.length - 1);
        expect(stored === undefined ? "" : encodeTask(foldStoredTask(stored))).toBe(encodeTask(task));
        expect(stored?.index).toMatchObject({ state: task.status?.state, wakeAt: undefined });
      }

      for (const { kind, reader, hungUp } of callers.streams) {
        expect(reader.open).toBe(false);
        const failure = await reader.ended.then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failure !== undefined) expect(failure).toBeInstanceOf(ConnectError);
        const [first, ...rest] = reader.events;
        if (first === undefined || first.payload.case === "message") continue;
        if (first.payload.case !== "task") throw new Error("a stream begins with the task");
        seen.streams += 1;
        // The events are a piece of the log without a gap, the snapshot is where it begins, and its fold is the log's.
        const log = logs.get(first.payload.value.id) ?? [];
        const codes = log.map(encode);
        const isCreation = encode(first) === codes[0];
        const begin = rest[0] === undefined ? codes.length : codes.indexOf(encode(rest[0]));
        if (isCreation && rest.length > 0) expect(begin).toBe(1);
        if (rest.length > 0) expect(rest.map(encode)).toEqual(codes.slice(begin, begin + rest.length));
        const folded = rest.reduce(
          (task, { payload }) => applyStep(task, payload),
          applyStep(undefined, first.payload),
        );
        const wanted = log.slice(1, rest.length > 0 ? begin + rest.length : undefined);
        const [creation] = log;
        if (creation?.payload.case !== "task") throw new Error("a log begins with the task");
        const ofLog = wanted.reduce(
          (task, { payload }) => applyStep(task, payload),
          applyStep(undefined, creation.payload),
        );
        if (rest.length > 0) {
          expect(folded.status).toEqual(ofLog.status);
          expect(folded.artifacts).toEqual(ofLog.artifacts);
        }
        if (hungUp || failure !== undefined) continue;
        const last = stateOf(reader.events.at(-1) ?? first);
        expect(isTerminal(last) || (kind === "send" && last === TaskState.INPUT_REQUIRED)).toBe(true);
      }
    }),
    { seed: 20_260_101, numRuns: 200 },
  );
  // The scenarios reach what they are about.
  expect(seen.tasks).toBeGreaterThan(200);
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
}, 60_000);
