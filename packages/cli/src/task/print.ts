import { formatMessage } from "@a2a-connect/core/internal";
import { type Task, TaskSchema } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import type { CommandContext } from "../context.ts";
import { type RenderTaskOptions, renderTask } from "../render/task.ts";

/** Prints a task: everything in it that people can read, or the protocol's own JSON. */
export async function printTask(
  { output }: CommandContext,
  task: Task,
  options?: RenderTaskOptions,
): Promise<void> {
  await output.document(taskDocument(task));
  await renderTask(output, task, options);
}

/** A task as the protocol's own JSON (a2a-cli Appendix B). */
export function taskDocument(task: Task): JsonValue {
  return formatMessage(TaskSchema, task);
}
