import type { CommandContext } from "../context.ts";
import { renderEvent, renderTask } from "../render/task.ts";
import { reportTask } from "../task/report.ts";
import type { ChatView } from "./chat-view.ts";

/**
 * The conversation as fields and blocks, each event as it comes, without control sequences (a2a-cli §11.2). Whoever
 * reads it is no person at a keyboard, so the first failure ends it.
 */
export function createTextView(context: CommandContext): ChatView {
  const { output } = context;
  return {
    greet: async () => {},
    event: (event) => renderEvent(output, event),
    settled: async (task) => {
      if (task !== undefined) await reportTask(context, task);
    },
    task: (task) => renderTask(output, task),
    say: (sentence) => output.note(sentence),
    failure: async (error) => {
      throw error;
    },
  };
}
