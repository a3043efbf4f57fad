import { bytes, fileUrl, json, text } from "@a2a-connect/core";
import type { TurnExecutor } from "@a2a-connect/server";
import { pause } from "./pause.ts";

const output = { filename: "output.txt", mediaType: "text/plain" };
const file = bytes(new TextEncoder().encode("Generated file content"), output);

/** What the agent does with a message whose id starts with one of these, as the conformance kit expects it. */
export const tckRows: Readonly<Record<string, TurnExecutor>> = {
  *"tck-complete-task"(turn) {
    yield turn.complete("Hello from TCK");
  },
  *"tck-artifact-text"(turn) {
    yield turn.artifact({ text: "Generated text content" });
  },
  *"tck-artifact-file"(turn) {
    yield turn.artifact({ parts: [file] });
  },
  *"tck-artifact-file-url"(turn) {
    yield turn.artifact({ parts: [fileUrl("https://example.com/output.txt", output)] });
  },
  *"tck-artifact-data"(turn) {
    yield turn.artifact({ parts: [json({ key: "value", count: 42 })] });
  },
  *"tck-message-response"(turn) {
    yield turn.reply("Direct message response");
  },
  *"tck-input-required"(turn) {
    yield turn.inputRequired("Please tell me more.");
  },
  *"tck-reject-task"(turn) {
    yield turn.reject("This task is rejected on purpose.");
  },
  *"tck-stream-001"(turn) {
    yield turn.working();
    yield turn.artifact({ parts: [text("Stream hello from TCK")] });
  },
  *"tck-stream-002"(turn) {
    yield turn.complete();
  },
  *"tck-stream-003"(turn) {
    yield turn.working();
    yield turn.artifact({ text: "Stream task lifecycle" });
  },
  *"tck-stream-ordering-001"(turn) {
    yield turn.working();
    yield turn.artifact({ text: "Ordered output" });
  },
  *"tck-stream-artifact-text"(turn) {
    yield turn.working();
    yield turn.artifact({ text: "Streamed text content" });
  },
  *"tck-stream-artifact-file"(turn) {
    yield turn.working();
    yield turn.artifact({ parts: [file] });
  },
  *"tck-stream-artifact-chunked"(turn) {
    yield turn.working();
    yield turn.append("chunked", "chunk-1 ");
    yield turn.append("chunked", "chunk-2", { last: true });
  },
  async *"test-resubscribe-message-id"(turn) {
    yield turn.working();
    await pause(4_000, turn.signal);
  },
};

/** The row for a message id: the longest prefix wins. */
export function findTckRow(messageId: string): TurnExecutor | undefined {
  const [longest] = Object.keys(tckRows)
    .filter((prefix) => messageId.startsWith(prefix))
    .toSorted((one, other) => other.length - one.length);
  return longest === undefined ? undefined : tckRows[longest];
}
