import { formatTaskState } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import type { JSX } from "preact";

/** A task's state for people. */
export function stateWords(state: TaskState): string {
  if (state === TaskState.INPUT_REQUIRED) return "needs input";
  if (state === TaskState.AUTH_REQUIRED) return "needs sign-in";
  return formatTaskState(state);
}

/** A task's state, by word and colour. */
export function StateBadge({ state }: { readonly state: TaskState }): JSX.Element {
  return <span class={`badge is-${formatTaskState(state)}`}>{stateWords(state)}</span>;
}
