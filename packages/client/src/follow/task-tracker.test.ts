import { text } from "@a2a-connect/core";
import { applyStep, copyTask } from "@a2a-connect/core/internal";
import {
  ArtifactSchema,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskSchema,
  TaskState,
} from "@a2a-connect/proto";
import { clone, create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvalidResponseError } from "../errors.ts";
import { EventGapError, TaskTracker } from "./task-tracker.ts";

const taskId = "task-1";
const contextId = "context-1";

const created = response({
  case: "task",
  value: create(TaskSchema, {
    id: taskId,
    contextId,
    status: { state: TaskState.SUBMITTED, timestamp: timestampFromMs(0) },
  }),
});

describe("a tracker", () => {
  it("hands out each numbered event once, in order, over any connections that resume", () => {
    fc.assert(
      fc.property(logs, connections, (log, plan) => {
        const tracker = new TaskTracker(0);
        const seen: StreamResponse[] = [];
        for (const { overlap, take } of [...plan, { overlap: 0, take: log.length }]) {
          const from = Math.max(0, (tracker.position ?? 0) - overlap);
          log.slice(from, from + overlap + take).forEach((event, index) => {
            seen.push(...tracker.accept({ response: event, id: from + index + 1 }));
          });
        }
        expect(seen).toEqual(log);
        expect(tracker.task).toEqual(foldAll(log));
        expect(tracker.position).toBe(log.length);
      }),
    );
  });

  it("comes to the same task by snapshots where nothing is numbered", () => {
    fc.assert(
      fc.property(logs, connections, (log, plan) => {
        const tracker = new TaskTracker();
        const seen: StreamResponse[] = [];
        let known = 0;
        for (const { overlap, take } of [...plan, { overlap: log.length, take: log.length }]) {
          // A connection begins with the task as it is then: what was missed up to there is in it.
          const at = Math.min(log.length, Math.max(1, known + overlap));
          seen.push(...tracker.accept({ response: taskEvent(foldAll(log.slice(0, at))), id: undefined }));
          for (const event of log.slice(at, at + take)) {
            seen.push(...tracker.accept({ response: event, id: undefined }));
          }
          known = Math.min(log.length, at + take);
        }
        const final = foldAll(log);
        expect(tracker.task?.artifacts).toEqual(final.artifacts);
        expect(tracker.task?.status).toEqual(final.status);
        expect(seen[0]?.payload.case).toBe("task");
        expect(seen.slice(1).every(({ payload }) => payload.case !== "task")).toBe(true);
        expect(foldAll(seen)).toEqual(final); // the fold of what came out is the same
      }),
    );
  });

  it("asks for events that are missing", () => {
    const tracker = new TaskTracker();
    tracker.accept({ response: created, id: 1 });
    expect(() => tracker.accept({ response: chunk("a", "x"), id: 3 })).toThrow(EventGapError);
    expect(tracker.accept({ response: chunk("a", "x"), id: 2 })).toHaveLength(1);
  });

  it("goes by the generation in the message where there is one (R-2)", () => {
    const tracker = new TaskTracker();
    tracker.accept({ response: created, id: 1 });
    const event = chunk("a", "x");
    if (event.payload.case === "artifactUpdate") {
      event.payload.value.generation = 4n;
    }
    expect(() => tracker.accept({ response: event, id: undefined })).toThrow(EventGapError);
  });

  it("takes a state that it does not know for one in progress", () => {
    const tracker = new TaskTracker();
    tracker.accept({ response: created, id: undefined });
    const [event] = tracker.accept({ response: status(42 as TaskState, 5), id: undefined });
    expect(event?.payload.case).toBe("statusUpdate");
    expect(tracker.task?.status?.state).toBe(42);
    expect(tracker.accept({ response: status(TaskState.COMPLETED, 6), id: undefined })).toHaveLength(1);
  });

  it("hands out nothing after the end (B-2)", () => {
    const tracker = new TaskTracker();
    tracker.accept({ response: created, id: undefined });
    tracker.accept({ response: status(TaskState.COMPLETED, 1), id: undefined });
    expect(tracker.accept({ response: status(TaskState.WORKING, 2), id: undefined })).toEqual([]);
    expect(tracker.accept({ response: chunk("a", "late"), id: undefined })).toEqual([]);
    expect(tracker.task).toMatchObject({ status: { state: TaskState.COMPLETED }, artifacts: [] });
  });

  it("drops a status that is said twice", () => {
    const tracker = new TaskTracker();
    tracker.accept({ response: created, id: undefined });
    expect(tracker.accept({ response: status(TaskState.WORKING, 1), id: undefined })).toHaveLength(1);
    expect(tracker.accept({ response: status(TaskState.WORKING, 1), id: undefined })).toEqual([]);
  });

  it("keeps its place over a snapshot that shows nothing new", () => {
    const tracker = new TaskTracker();
    tracker.accept({ response: created, id: 1 });
    tracker.accept({ response: chunk("a", "x"), id: 2 });
    expect(
      tracker.accept({ response: taskEvent(foldAll([created, chunk("a", "x")])), id: undefined }),
    ).toEqual([]);
    expect(tracker.position).toBe(2);
    expect(
      tracker.accept({
        response: taskEvent(foldAll([created, chunk("a", "x"), chunk("a", "y")])),
        id: undefined,
      }),
    ).toHaveLength(1);
    expect(tracker.position).toBeUndefined();
  });

  it("shares the artifacts of a whole task with other followers until an event changes one", () => {
    const whole = foldAll([created, chunk("a", "x"), chunk("b", "x")]);
    const before = structuredClone(whole);
    const trackers = [new TaskTracker(), new TaskTracker()];
    const artifactsOf = () => trackers.map(({ task }) => task?.artifacts ?? []);
    for (const tracker of trackers) tracker.accept({ response: taskEvent(whole), id: undefined });
    for (const artifacts of artifactsOf()) {
      for (const [at, artifact] of artifacts.entries()) expect(artifact).toBe(whole.artifacts[at]);
    }
    trackers[0]?.accept({ response: chunk("a", "y"), id: undefined });
    expect(artifactsOf().map(([artifact]) => artifact?.parts.length)).toEqual([2, 1]);
    expect(whole).toEqual(before);
  });

  it.each([
    ["nothing in it", response({ case: undefined })],
    ["another task", chunk("a", "x", "task-2")],
    ["another task's snapshot", taskEvent(create(TaskSchema, { id: "task-2" }))],
  ])("refuses an event with %s", (_, event) => {
    const tracker = new TaskTracker();
    tracker.accept({ response: created, id: undefined });
    expect(() => tracker.accept({ response: event, id: undefined })).toThrow(InvalidResponseError);
  });
});

function response(payload: StreamResponse["payload"]): StreamResponse {
  return create(StreamResponseSchema, { payload });
}

function taskEvent(task: Task): StreamResponse {
  return response({ case: "task", value: task });
}

function chunk(artifactId: string, words: string, of: string = taskId, append = true): StreamResponse {
  const artifact = create(ArtifactSchema, { artifactId, parts: [text(words)] });
  return response({
    case: "artifactUpdate",
    value: {
      $typeName: "lf.a2a.v1.TaskArtifactUpdateEvent",
      taskId: of,
      contextId,
      artifact,
      append,
      lastChunk: false,
      generation: 0n,
    },
  });
}

function status(state: TaskState, ms: number): StreamResponse {
  return create(StreamResponseSchema, {
    payload: {
      case: "statusUpdate",
      value: { taskId, contextId, status: { state, timestamp: timestampFromMs(ms) } },
    },
  });
}

function foldAll(events: readonly StreamResponse[]): Task {
  let task: Task | undefined;
  for (const { payload } of events) {
    task = applyStep(task, payload);
  }
  return copyTask(task ?? create(TaskSchema));
}

const chunks = fc
  .record({ id: fc.constantFrom("a", "b"), words: fc.string({ maxLength: 3 }), append: fc.boolean() })
  .map(({ id, words, append }) => ({ kind: "chunk" as const, id, words, append }));
const statuses = fc.constant({ kind: "status" as const });

/** A creation, some chunks and changes of status, an end. Each status has a time of its own. */
const logs = fc
  .array(fc.oneof({ weight: 3, arbitrary: chunks }, statuses), { maxLength: 20 })
  .map((steps) => [
    clone(StreamResponseSchema, created),
    ...steps.map((step, index) =>
      step.kind === "chunk"
        ? chunk(step.id, step.words, taskId, step.append)
        : status(index % 2 === 0 ? TaskState.WORKING : TaskState.INPUT_REQUIRED, index + 1),
    ),
    status(TaskState.COMPLETED, 1_000),
  ]);

const connections = fc.array(fc.record({ overlap: fc.nat(4), take: fc.nat(6) }), { maxLength: 6 });
