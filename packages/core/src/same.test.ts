import { type Task, TaskSchema, TaskState } from "@a2a-connect/proto";
import { create, equals, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { bytes, json, text } from "./parts.ts";
import { isSame } from "./same.ts";

type TaskInit = Exclude<MessageInitShape<typeof TaskSchema>, Task>;

const artifact = {
  artifactId: "a",
  parts: [text("x"), json({ a: [1, null], b: {} }), bytes(Uint8Array.of(1))],
};
const status = { state: TaskState.WORKING, timestamp: { seconds: 1n, nanos: 2 } };
const task: TaskInit = { id: "t", status, artifacts: [artifact], metadata: { a: [1], b: { c: "d" } } };

/** What changes a task, and whether it is then still the same. */
const changes: readonly (readonly [string, TaskInit, boolean])[] = [
  ["nothing", {}, true],
  ["the order of names", { metadata: { b: { c: "d" }, a: [1] } }, true],
  ["a string", { id: "u" }, false],
  ["a field that is not set", { status: undefined }, false],
  ["a bigint", { status: { ...status, timestamp: { seconds: 2n, nanos: 2 } } }, false],
  ["the length of a list", { artifacts: [{ ...artifact, parts: artifact.parts.slice(1) }] }, false],
  ["bytes", { artifacts: [{ ...artifact, parts: artifact.parts.with(2, bytes(Uint8Array.of(2))) }] }, false],
  [
    "a Value",
    { artifacts: [{ ...artifact, parts: artifact.parts.with(1, json({ a: [1, 0], b: {} })) }] },
    false,
  ],
  ["a member", { metadata: { a: [1] } }, false],
  ["an array", { metadata: { a: { 0: 1 }, b: { c: "d" } } }, false],
];

describe("isSame", () => {
  it.each(changes)("judges a change of %s as protobuf-es does", (_, change, same) => {
    const [one, other] = [create(TaskSchema, task), create(TaskSchema, { ...task, ...change })];
    expect([isSame(one, other), isSame(other, one)]).toEqual([same, same]);
    expect(equals(TaskSchema, one, other)).toBe(same);
  });

  it("ignores unknown fields, as protobuf-es does", () => {
    const one = create(TaskSchema, task);
    const other = create(TaskSchema, task);
    other.$unknown = [{ no: 99, wireType: 0, data: Uint8Array.of(1) }];
    expect([isSame(one, other), equals(TaskSchema, one, other)]).toEqual([true, true]);
  });
});
