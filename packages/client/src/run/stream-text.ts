import { partText } from "@a2a-connect/core";
import type { Input } from "../call-options.ts";
import type { ClientContext } from "../client-context.ts";
import { runTask } from "./run-task.ts";
import type { RunOptions } from "./run-types.ts";

/** The texts of a run while they come; see AgentClient. */
export async function* streamText(
  context: ClientContext,
  input: Input,
  { signal, onArtifact, ...options }: RunOptions,
): AsyncGenerator<string, void> {
  const left = new AbortController();
  const { readable, writable } = new TransformStream<string, string>();
  const writer = writable.getWriter();
  const run = async (): Promise<void> => {
    try {
      const result = await runTask(context, input, {
        ...options,
        signal: signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]),
        async onArtifact(update, task) {
          await onArtifact?.(update, task);
          const chunk = update.artifact === undefined ? "" : partText(update.artifact);
          if (chunk !== "") await writer.write(chunk); // waits for its reader
        },
      });
      if (result.artifacts.length === 0 && result.text() !== "") await writer.write(result.text());
      await writer.close();
    } catch (error) {
      await writer.abort(error);
    }
  };
  const reader = readable.getReader();
  const running = run().catch(() => undefined); // the reader has the error, or has gone
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    left.abort();
    await reader.cancel().catch(() => undefined);
    await running;
  }
}
