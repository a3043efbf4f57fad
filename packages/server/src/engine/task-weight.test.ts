import { ArtifactSchema, TaskArtifactUpdateEventSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { startScripted } from "../../test-support/agents.ts";
import { createHeldStore } from "../../test-support/held-store.ts";
import { ArtifactLedger } from "./task-weight.ts";

describe("the ledger of a task's artifacts", () => {
  const update = (artifactId: string, append = false) =>
    create(TaskArtifactUpdateEventSchema, { artifact: create(ArtifactSchema, { artifactId }), append });

  it("counts the objects that an artifact is once, however often it is replaced or extended", () => {
    const ledger = new ArtifactLedger(10_000);
    ledger.admit(update("a"), 10, false);
    ledger.admit(update("a"), 20, false);
    ledger.admit(update("a", true), 30, false);
    expect(ledger.bytes).toBe(50 + 512);
  });

  it("has no room for more small artifacts than the memory of their objects allows", () => {
    const ledger = new ArtifactLedger(10 * 512 + 10);
    for (let made = 0; made < 10; made++) ledger.admit(update(`a${made}`), 1, false);
    expect(() => ledger.admit(update("one more"), 1, false)).toThrow("the task's artifacts would exceed");
    const loaded = new ArtifactLedger(10_000);
    loaded.load([create(ArtifactSchema, { artifactId: "a" })], new Map([["a", 10]]));
    expect(loaded.bytes).toBe(10 + 512);
  });
});

it.each([
  ["an artifact", "artifact"],
  ["its progress", "working"],
] as const)(
  "encodes the large snapshots of many tasks, of which %s is large, in turns of the event loop",
  async (_, what) => {
    const store = createHeldStore();
    const text = "x".repeat(100_000);
    let [written, inTurn, mostInATurn] = [0, 0, 0];
    store.decide(({ snapshot }) => {
      if (snapshot === undefined) return "write";
      expect(snapshot.head.length + (snapshot.artifacts?.length ?? 0)).toBeGreaterThan(text.length);
      written += 1;
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      inTurn += 1;
      mostInATurn = Math.max(mostInATurn, inTurn);
      return "write";
    });
    const { startTask, clock } = await startScripted({}, { store });
    const tasks = await Array.fromAsync({ length: 30 }, () => startTask());
    const replaceAll = () =>
      Promise.all(
        tasks.map(({ turn, yields }) =>
          yields(what === "artifact" ? turn.artifact({ id: "a", text }) : turn.working(text)),
        ),
      );
    await replaceAll();
    await replaceAll();
    await clock.settle();
    expect(written).toBe(0);
    await replaceAll(); // each log has three times what its task has now
    await expect.poll(() => written).toBe(30);
    expect(mostInATurn).toBeLessThanOrEqual(2);
    await Promise.all(tasks.map(({ turn, yields }) => yields(turn.complete())));
    await Promise.all(tasks.map(({ answer }) => answer));
  },
);
