import type { JsonObject } from "@bufbuild/protobuf";
import { commands, product, questions } from "./contract-work.ts";

/** A state of a task as A2A 0.3 spells it. */
export type ScriptState =
  | "working"
  | "completed"
  | "failed"
  | "rejected"
  | "canceled"
  | "input-required"
  | "auth-required";

/** What an SDK gives its agents to publish with. */
export interface ScriptTools {
  status(state: ScriptState, words?: string): void;
  text(id: string, text: string, append?: boolean): void;
  data(id: string, data: JsonObject): void;
  file(id: string, bytes: Uint8Array, mediaType: string, name: string): void;
}

/**
 * What the contract's agent does with a task, written once for all versions of `@a2a-js/sdk`.
 *
 * @param said what the caller has said in the task, oldest first
 */
export function playScript(said: readonly string[], { status, text, data, file }: ScriptTools): void {
  const [command, ...words] = said[0]?.split(" ") ?? [];
  switch (command) {
    case commands.work:
      status("working", "begun");
      for (const [index, chunk] of product.chunks.entries()) {
        text("story", chunk, index > 0);
      }
      data("table", product.table);
      file("picture", product.picture, "image/png", "picture.png");
      status("completed", product.closing);
      return;
    case commands.ask: {
      const question = questions[said.length - 1];
      if (question !== undefined) {
        status("input-required", question);
        return;
      }
      text("answers", said.slice(1).join(", "));
      status("completed");
      return;
    }
    case commands.auth:
      if (said.length === 1) {
        status("auth-required", "Sign in, please.");
        return;
      }
      text("secret", said[1] ?? "");
      status("completed");
      return;
    case commands.fail:
      status("working", "trying");
      status("failed", `it could not be done: ${words[0]}`);
      return;
    case commands.reject:
      status("rejected", `it will not be done: ${words[0]}`);
      return;
    default: // of a caller that knows nothing of this agent
      text("answer", said.at(-1) ?? "");
      status("completed");
  }
}
