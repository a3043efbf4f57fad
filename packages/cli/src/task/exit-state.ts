import { TaskState } from "@a2a-connect/proto";
import type { CommandContext } from "../context.ts";

/** What `--exit-state` leaves in a command's options. */
export interface ExitStateOptions {
  readonly exitState?: boolean;
}

/** Exit statuses of states, for those who ask for them. Clear of the ones that mean something already (a2a-cli §11.6). */
const statuses: ReadonlyMap<TaskState, number> = new Map([
  [TaskState.COMPLETED, 0],
  [TaskState.FAILED, 20],
  [TaskState.CANCELED, 21],
  [TaskState.REJECTED, 22],
  [TaskState.INPUT_REQUIRED, 23],
  [TaskState.AUTH_REQUIRED, 24],
]);

/** Work goes on, or nobody knows. */
const unfinished = 25;

/** Has the command end with the status of the task's state, where `--exit-state` asks for that. */
export function exitByState(context: CommandContext, options: ExitStateOptions, state: TaskState): void {
  if (options.exitState === true) {
    context.exitWith(statuses.get(state) ?? unfinished);
  }
}
