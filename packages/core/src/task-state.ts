import { type StreamResponse, TaskState, TaskStateSchema, type TaskStatus } from "@a2a-connect/proto";

/** The phase of a state (spec §4.1.3): the agent works, the caller must act, or the task cannot change any more. */
export type TaskPhase = "inProgress" | "interrupted" | "terminal";

/** The one table of states. `TASK_STATE_UNSPECIFIED` is not in it: it is never emitted (requirement B-4). */
const phases: ReadonlyMap<TaskState, TaskPhase> = new Map<TaskState, TaskPhase>([
  [TaskState.SUBMITTED, "inProgress"],
  [TaskState.WORKING, "inProgress"],
  [TaskState.INPUT_REQUIRED, "interrupted"],
  [TaskState.AUTH_REQUIRED, "interrupted"],
  [TaskState.COMPLETED, "terminal"],
  [TaskState.FAILED, "terminal"],
  [TaskState.CANCELED, "terminal"],
  [TaskState.REJECTED, "terminal"],
]);

/** The state of a task, or of what else has a status; UNSPECIFIED where it has none. */
export function stateOf(task: { readonly status?: TaskStatus | undefined } | undefined): TaskState {
  return task?.status?.state ?? TaskState.UNSPECIFIED;
}

/** The status that an event gives its task; undefined when it gives it none. */
export function statusOfEvent({ payload }: StreamResponse): TaskStatus | undefined {
  return payload.case === "task" || payload.case === "statusUpdate" ? payload.value.status : undefined;
}

/** The phase of a state, or undefined for UNSPECIFIED and numbers this version does not know. */
export function findTaskPhase(state: TaskState): TaskPhase | undefined {
  return phases.get(state);
}

/** COMPLETED, FAILED, CANCELED, REJECTED. */
export function isTerminal(state: TaskState): boolean {
  return phases.get(state) === "terminal";
}

/** INPUT_REQUIRED, AUTH_REQUIRED. */
export function isInterrupted(state: TaskState): boolean {
  return phases.get(state) === "interrupted";
}

/** Interrupted or terminal: what a blocking send waits for (spec §3.2.2). */
export function isSettled(state: TaskState): boolean {
  const phase = phases.get(state);
  return phase === "interrupted" || phase === "terminal";
}

/**
 * Whether a task may go from one state to another (requirement B-3): no state follows a terminal state, SUBMITTED never
 * follows, and every other change is allowed. `from` is undefined for a task that does not exist yet.
 */
export function canTransition(from: TaskState | undefined, to: TaskState): boolean {
  if (!phases.has(to)) {
    return false;
  }
  if (from === undefined) {
    return true;
  }
  return !isTerminal(from) && (to !== TaskState.SUBMITTED || from === TaskState.SUBMITTED);
}

/** The state's name for people: `input-required`, `completed`. */
export function formatTaskState(state: TaskState): string {
  const name = TaskStateSchema.value[state]?.localName ?? "unspecified";
  return name.toLowerCase().replaceAll("_", "-");
}
