import { bytes, fileUrl, json, partText, text } from "@a2a-connect/core";
import type { DurableEvent, DurableExecutor, DurableTask, TurnExecutor } from "@a2a-connect/server";

const output = { filename: "output.txt", mediaType: "text/plain" };
const file = bytes(new TextEncoder().encode("Generated file content"), output);

/** Executors by what the id of a message begins with, as the conformance kit expects it. */
export type TckRows<Executor> = Readonly<Record<string, Executor>>;

/** Rows that give a direct Message, and so no task. */
export const turnRows: TckRows<TurnExecutor> = {
  *"tck-message-response"(turn) {
    yield turn.reply("Direct message response");
  },
};

/** All the others. */
export const durableRows: TckRows<DurableExecutor> = {
  *"tck-complete-task"(task) {
    yield task.complete("Hello from TCK");
  },
  *"tck-artifact-text"(task) {
    yield task.artifact({ text: "Generated text content" });
  },
  *"tck-artifact-file"(task) {
    yield task.artifact({ parts: [file] });
  },
  *"tck-artifact-file-url"(task) {
    yield task.artifact({ parts: [fileUrl("https://example.com/output.txt", output)] });
  },
  *"tck-artifact-data"(task) {
    yield task.artifact({ parts: [json({ key: "value", count: 42 })] });
  },
  async *"tck-input-required"(task) {
    const { message } = yield* task.ask("Please tell me more.");
    yield* goOnWith(task, message, () => [
      task.artifact({ name: "echo", parts: message.parts }),
      task.complete(partText(message) || "Received."),
    ]);
  },
  *"tck-reject-task"(task) {
    yield task.reject("This task is rejected on purpose.");
  },
  *"tck-stream-001"(task) {
    yield task.working();
    yield task.artifact({ parts: [text("Stream hello from TCK")] });
  },
  *"tck-stream-002"(task) {
    yield task.complete();
  },
  *"tck-stream-003"(task) {
    yield task.working();
    yield task.artifact({ text: "Stream task lifecycle" });
  },
  *"tck-stream-ordering-001"(task) {
    yield task.working();
    yield task.artifact({ text: "Ordered output" });
  },
  *"tck-stream-artifact-text"(task) {
    yield task.working();
    yield task.artifact({ text: "Streamed text content" });
  },
  *"tck-stream-artifact-file"(task) {
    yield task.working();
    yield task.artifact({ parts: [file] });
  },
  *"tck-stream-artifact-chunked"(task) {
    yield task.working();
    yield task.append("chunked", "chunk-1 ");
    yield task.append("chunked", "chunk-2", { last: true });
  },
  async *"test-resubscribe-message-id"(task) {
    yield task.working();
    await task.sleep(4_000);
  },
};

/** The row for a message id: the longest prefix wins. */
export function findTckRow<Executor>(rows: TckRows<Executor>, messageId: string): Executor | undefined {
  const [longest] = Object.keys(rows)
    .filter((prefix) => messageId.startsWith(prefix))
    .toSorted((one, other) => other.length - one.length);
  return longest === undefined ? undefined : rows[longest];
}

/** After an answer: as the row of its id says, or, when it has none, as `otherwise` does. */
export async function* goOnWith(
  task: DurableTask,
  { messageId }: DurableTask["message"],
  otherwise: () => Iterable<DurableEvent>,
): AsyncGenerator<DurableEvent> {
  yield* findTckRow(durableRows, messageId)?.(task) ?? otherwise();
}
