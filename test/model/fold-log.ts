import { type Message, type StreamResponse, type Task, TaskSchema, TaskState } from "@a2a-connect/proto";
import { create, toJsonString } from "@bufbuild/protobuf";

/** One entry of a log, decoded. */
export type LoggedStep = { readonly response: StreamResponse } | { readonly input: Message };

/** A state after which a caller or somebody outside has to act. */
export function isAsking(state: TaskState | undefined): boolean {
  return state === TaskState.INPUT_REQUIRED || state === TaskState.AUTH_REQUIRED;
}

/** A state that nothing follows. */
export function isFinal(state: TaskState | undefined): boolean {
  return (
    state === TaskState.COMPLETED ||
    state === TaskState.FAILED ||
    state === TaskState.CANCELED ||
    state === TaskState.REJECTED
  );
}

/**
 * The Task that a log adds up to, by the rules of docs/architecture.md in their plainest form: everything is copied, and
 * each fold begins at the beginning.
 */
export function foldLog(steps: readonly LoggedStep[]): Task {
  let task = create(TaskSchema);
  for (const step of steps) {
    if ("input" in step) {
      task = { ...withoutQuestion(task), history: [...withoutQuestion(task).history, step.input] };
      continue;
    }
    const { payload } = step.response;
    switch (payload.case) {
      case "task":
        task = payload.value;
        break;
      case "statusUpdate": {
        const { status } = payload.value;
        task = { ...withoutQuestion(task) };
        if (status !== undefined) task.status = status;
        break;
      }
      case "artifactUpdate": {
        const { artifact, append } = payload.value;
        if (artifact === undefined) throw new Error("an artifact update has an artifact");
        const known = task.artifacts.find(({ artifactId }) => artifactId === artifact.artifactId);
        const metadata = { ...known?.metadata, ...artifact.metadata };
        const next =
          known !== undefined && append
            ? {
                ...known,
                name: known.name || artifact.name,
                parts: [...known.parts, ...artifact.parts],
                ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
              }
            : artifact;
        task = {
          ...task,
          artifacts:
            known === undefined
              ? [...task.artifacts, next]
              : task.artifacts.map((each) => (each === known ? next : each)),
        };
        break;
      }
      default:
        throw new Error(`a log cannot hold ${payload.case}`);
    }
  }
  return task;
}

/** What a question said goes to the end of history when something takes its place (requirement C-5). */
function withoutQuestion(task: Task): Task {
  const { status } = task;
  if (status?.message === undefined || !isAsking(status.state)) return task;
  const { message, ...rest } = status;
  return { ...task, status: rest, history: [...task.history, message] };
}

/** A task as text, to compare; its generation left out. */
export function formatTask({ id, contextId, status, history, artifacts, metadata }: Task): string {
  const task = create(TaskSchema, {
    id,
    contextId,
    history,
    artifacts,
    ...(status === undefined ? {} : { status }),
    ...(metadata === undefined ? {} : { metadata }),
  });
  return toJsonString(TaskSchema, task);
}
