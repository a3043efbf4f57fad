import { type Task, TaskState, type TaskStatus, TaskStatusSchema } from "@a2a-connect/proto";
import { equals } from "@bufbuild/protobuf";

/** The state of a task; UNSPECIFIED where it has none. */
export function stateOf(task: Task | undefined): TaskState {
  return task?.status?.state ?? TaskState.UNSPECIFIED;
}

/** Whether two statuses are one. There are servers that stamp it anew each time they are asked. */
export function isSameStatus(one: TaskStatus | undefined, other: TaskStatus | undefined): boolean {
  if (one === undefined || other === undefined) {
    return one === other;
  }
  const said = one.message?.messageId ?? "";
  return (
    equals(TaskStatusSchema, one, other) ||
    (one.state === other.state && said !== "" && said === other.message?.messageId)
  );
}
