import { text } from "@a2a-connect/core";
import { applyStep, copyTask } from "@a2a-connect/core/internal";
import { type Artifact, ArtifactSchema, type Task, TaskSchema, TaskState } from "@a2a-connect/proto";
import { create, type JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reconcile } from "./reconcile.ts";

describe("the events between two tasks", () => {
  it("turn one into the other, whose artifacts count as the last of each id says", () => {
    fc.assert(
      fc.property(artifactLists, artifactLists, (before, after) => {
        const known = taskOf(withoutRepeats(before));
        const current = taskOf(after);
        const events = reconcile(known, current);
        const ids = events.map(
          ({ payload }) => payload.case === "artifactUpdate" && artifactId(payload.value),
        );
        expect(new Set(ids).size).toBe(ids.length);
        const folded = copyTask(known);
        for (const { payload } of events) applyStep(folded, payload);
        const wanted = withoutRepeats(after);
        const left = folded.artifacts.filter(({ artifactId: id }) =>
          wanted.some((each) => each.artifactId === id),
        );
        expect(byId(left)).toEqual(byId(wanted));
        expect(reconcile(current, current)).toEqual([]);
      }),
    );
  });

  it("are found at a cost that is linear in both, when an agent repeats the id of an artifact", () => {
    const readsFor = (count: number): number => {
      let reads = 0;
      const members = Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, at]));
      const metadata: JsonObject = new Proxy(members, {
        getOwnPropertyDescriptor: (target, name) => {
          reads += 1;
          return Reflect.getOwnPropertyDescriptor(target, name);
        },
      });
      const known = taskOf([{ ...artifact("a"), metadata }]);
      reconcile(known, taskOf(Array.from({ length: count }, () => artifact("a"))));
      return reads;
    };
    const reads = readsFor(100);
    expect(reads).toBeGreaterThanOrEqual(100);
    expect(readsFor(200)).toBeLessThanOrEqual(2 * reads);
  });
});

function artifact(id: string, words: readonly string[] = []): Artifact {
  return create(ArtifactSchema, { artifactId: id, parts: words.map((each) => text(each)) });
}

function artifactId({ artifact: updated }: { readonly artifact?: Artifact | undefined }): string | undefined {
  return updated?.artifactId;
}

function taskOf(artifacts: Artifact[]): Task {
  return create(TaskSchema, { id: "t", contextId: "c", status: { state: TaskState.WORKING }, artifacts });
}

function byId(artifacts: readonly Artifact[]): Map<string, Artifact> {
  return new Map(artifacts.map((each) => [each.artifactId, each]));
}

function withoutRepeats(artifacts: readonly Artifact[]): Artifact[] {
  return [...byId(artifacts).values()];
}

const artifactLists = fc.array(
  fc
    .record({
      id: fc.constantFrom("a", "b", "c"),
      words: fc.array(fc.constantFrom("x", "y"), { maxLength: 3 }),
      metadata: fc.option(fc.dictionary(fc.constantFrom("k", "l"), fc.nat(2), { maxKeys: 2 }), {
        nil: undefined,
      }),
    })
    .map(({ id, words, metadata }) => ({ ...artifact(id, words), ...(metadata && { metadata }) })),
  { maxLength: 8 },
);
