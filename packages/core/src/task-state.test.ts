import { StreamResponseSchema, TaskSchema, TaskState, TaskStateSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  canTransition,
  findTaskPhase,
  formatTaskState,
  isInterrupted,
  isSettled,
  isTerminal,
  stateOf,
  statusOfEvent,
} from "./task-state.ts";

const {
  UNSPECIFIED,
  SUBMITTED,
  WORKING,
  COMPLETED,
  FAILED,
  CANCELED,
  INPUT_REQUIRED,
  REJECTED,
  AUTH_REQUIRED,
} = TaskState;
const all = TaskStateSchema.values.map(({ number }) => number as TaskState); // numbers of the enum itself

describe("task states", () => {
  it("are the nine of the protocol, with one L in CANCELED (B-1)", () => {
    expect(TaskStateSchema.values.map(({ name, number }) => [number, name])).toEqual([
      [0, "TASK_STATE_UNSPECIFIED"],
      [1, "TASK_STATE_SUBMITTED"],
      [2, "TASK_STATE_WORKING"],
      [3, "TASK_STATE_COMPLETED"],
      [4, "TASK_STATE_FAILED"],
      [5, "TASK_STATE_CANCELED"],
      [6, "TASK_STATE_INPUT_REQUIRED"],
      [7, "TASK_STATE_REJECTED"],
      [8, "TASK_STATE_AUTH_REQUIRED"],
    ]);
  });

  for (const [state, phase, name] of [
    [UNSPECIFIED, undefined, "unspecified"],
    [SUBMITTED, "inProgress", "submitted"],
    [WORKING, "inProgress", "working"],
    [COMPLETED, "terminal", "completed"],
    [FAILED, "terminal", "failed"],
    [CANCELED, "terminal", "canceled"],
    [REJECTED, "terminal", "rejected"],
    [INPUT_REQUIRED, "interrupted", "input-required"],
    [AUTH_REQUIRED, "interrupted", "auth-required"],
    [99 as TaskState, undefined, "unspecified"], // a number from a newer peer
  ] as const) {
    it(`${name} (${state}) is ${phase ?? "no phase"}`, () => {
      expect(findTaskPhase(state)).toBe(phase);
      expect(isTerminal(state)).toBe(phase === "terminal");
      expect(isInterrupted(state)).toBe(phase === "interrupted");
      expect(isSettled(state)).toBe(phase === "terminal" || phase === "interrupted");
      expect(formatTaskState(state)).toBe(name);
    });
  }
});

describe("canTransition", () => {
  const terminal = [COMPLETED, FAILED, CANCELED, REJECTED];

  it("lets a task begin in any state but UNSPECIFIED (B-3, B-4)", () => {
    expect(all.filter((to) => canTransition(undefined, to))).toEqual(all.filter((to) => to !== UNSPECIFIED));
  });

  for (const from of terminal) {
    it(`lets nothing leave ${formatTaskState(from)} (B-2)`, () => {
      expect(all.filter((to) => canTransition(from, to))).toEqual([]);
    });
  }

  for (const from of [WORKING, INPUT_REQUIRED, AUTH_REQUIRED]) {
    it(`lets ${formatTaskState(from)} go anywhere but back (B-3)`, () => {
      expect(all.filter((to) => canTransition(from, to))).toEqual(
        all.filter((to) => to !== UNSPECIFIED && to !== SUBMITTED),
      );
    });
  }

  it("lets SUBMITTED go anywhere (B-3)", () => {
    expect(all.filter((to) => canTransition(SUBMITTED, to))).toEqual(all.filter((to) => to !== UNSPECIFIED));
  });
});

describe("the state of a task", () => {
  it("is that of its status, and UNSPECIFIED without one", () => {
    expect(stateOf(create(TaskSchema, { status: { state: WORKING } }))).toBe(WORKING);
    expect(stateOf(create(TaskSchema))).toBe(UNSPECIFIED);
    expect(stateOf(undefined)).toBe(UNSPECIFIED);
  });

  it("is given by tasks and status updates, and by no other event", () => {
    const status = { state: WORKING };
    const states = (["task", "statusUpdate", "artifactUpdate", "message"] as const).map((name) => {
      const value = name === "task" || name === "statusUpdate" ? { status } : {};
      return statusOfEvent(create(StreamResponseSchema, { payload: { case: name, value } } as object))?.state;
    });
    expect(states).toEqual([WORKING, WORKING, undefined, undefined]);
  });
});
