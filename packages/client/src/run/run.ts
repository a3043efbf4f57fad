import { type StreamResponse, type Task, TaskSchema, TaskState } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { ClientContext } from "../client-context.ts";
import type { Observation } from "../follow/observation.ts";
import { reconcile } from "../follow/reconcile.ts";
import { callBack } from "./callback-error.ts";
import type { RepeatedQuestion } from "./repeated-question.ts";
import type { ResumeOptions } from "./run-types.ts";

/** A run: its task, the events of that, and the caller's callbacks. */
export interface Run {
  readonly context: ClientContext;
  readonly options: ResumeOptions;
  readonly observation: Observation;
  readonly events: AsyncGenerator<StreamResponse, void>;
  readonly repeated: RepeatedQuestion;
}

/** The next event of a task, or its end. */
export type NextEvent = IteratorResult<StreamResponse, void>;

/** Calls `onTask` with the first of all tasks that it gets, and never again. */
export function announceTo({ onTask }: ResumeOptions, signal: AbortSignal): (task: Task) => Promise<void> {
  let isKnown = false;
  return async (task) => {
    if (!isKnown && onTask !== undefined) {
      isKnown = true;
      await callBack("onTask", () => onTask(task), task, signal);
    }
  };
}

/** Calls `onProgress` or `onArtifact`. A Task may contain several events: its artifacts, and a status that is not that of its creation. */
export async function reportTo(
  options: ResumeOptions,
  { payload }: StreamResponse,
  task: Task,
  signal: AbortSignal,
): Promise<void> {
  const { onProgress, onArtifact } = options;
  if (onProgress === undefined && onArtifact === undefined) {
    return;
  }
  if (payload.case === "task") {
    const { id, contextId, status } = payload.value;
    const created = create(TaskSchema, { id, contextId });
    if (status?.state === TaskState.SUBMITTED) {
      created.status = status;
    }
    for (const event of reconcile(created, payload.value)) {
      await reportTo(options, event, task, signal);
    }
  } else if (payload.case === "statusUpdate" && onProgress !== undefined) {
    await callBack("onProgress", () => onProgress(payload.value, task), task, signal);
  } else if (payload.case === "artifactUpdate" && onArtifact !== undefined) {
    await callBack("onArtifact", () => onArtifact(payload.value, task), task, signal);
  }
}
