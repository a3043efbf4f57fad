import { ArtifactSchema, TaskArtifactUpdateEventSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
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
