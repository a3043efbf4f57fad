import type { Task } from "@a2a-connect/proto";

/** A task as its callers may see it at one moment. */
export interface SeenTask {
  /** Does not change when the task goes on. */
  readonly task: Task;
  /** Generation of the last event that is folded into it. */
  readonly generation: number;
}
