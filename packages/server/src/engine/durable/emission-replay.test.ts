import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ReadTurns } from "@a2a-connect/core/internal";
import { alice, createCommit } from "@a2a-connect/testing";
import { expect, it } from "vitest";
import { beginLongWork } from "../../../test-support/long-work.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import { TaskReadTurns } from "../capacity/task-read-turns.ts";
import { EmissionReplay } from "./emission-replay.ts";

it("reads few pages at a time for executors of one caller, and keeps nothing of what events contain", async () => {
  const memory = createMemoryTaskStore();
  const kinds = ["task", "artifact", "artifact", "artifact"] as const;
  await memory.commit(createCommit({ kinds, text: "x".repeat(100_000) }));
  const payloads: WeakRef<Uint8Array>[] = [];
  let reading = 0;
  let most = 0;
  const store = {
    ...memory,
    async events(...args: Parameters<typeof memory.events>) {
      reading += 1;
      most = Math.max(most, reading);
      await nextTurn();
      const events = await memory.events(...args);
      const copies = events.map((event) => ({ ...event, payload: event.payload.slice() }));
      payloads.push(...copies.map(({ payload }) => new WeakRef(payload)));
      reading -= 1;
      return copies;
    },
  };
  const source = {
    store,
    reads: { tasks: new TaskReadTurns(store), lists: new ReadTurns(2), loads: new ReadTurns(4) },
  };
  const task = { owner: alice, taskId: "task-1", share: "alice" };
  const replays = Array.from({ length: 20 }, () => new EmissionReplay(source, task, { answers: [] }, 4));
  const emissions = await Promise.all(replays.map((replay) => replay.next()));
  expect(most).toBe(2);
  expect(new Set(emissions.map(({ generation }) => generation))).toEqual(new Set([2]));
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void; // the flag made it
  await nextTurn(); // until then what a WeakRef was made of stays
  collectGarbage();
  expect(payloads.filter((payload) => payload.deref() !== undefined)).toHaveLength(0);
  const [replay] = replays;
  const rest = [await replay?.next(), await replay?.next()];
  expect(rest.map((emission) => emission?.generation)).toEqual([3, 4]);
  expect(replay?.left).toBe(0);
});

it("does not wait for other long work of its caller", async () => {
  const store = createMemoryTaskStore();
  const kinds = ["task", ...Array.from({ length: 20 }, () => "artifact" as const)] as const;
  await store.commit(createCommit({ kinds, text: "x".repeat(100_000) }));
  const source = {
    store,
    reads: { tasks: new TaskReadTurns(store), lists: new ReadTurns(2), loads: new ReadTurns(4) },
  };
  const work = beginLongWork("alice", 2_000);
  const task = { owner: alice, taskId: "task-1", share: "alice" };
  await new EmissionReplay(source, task, { answers: [] }, 21).next();
  expect(work.begun).toBeLessThan(1_000);
  await work.over;
});
