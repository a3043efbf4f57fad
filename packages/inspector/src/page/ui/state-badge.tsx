import { formatTaskState } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import type { JSX } from "preact";

const words: Readonly<Partial<Record<TaskState, string>>> = {
  [TaskState.INPUT_REQUIRED]: "needs input",
  [TaskState.AUTH_REQUIRED]: "needs sign-in",
};

/** A task's state, by word and colour. */
export function StateBadge({ state }: { readonly state: TaskState }): JSX.Element {
  const name = formatTaskState(state);
  return <span class={`badge is-${name}`}>{words[state] ?? name}</span>;
}
