import type { Message, Part, Task } from "@a2a-js/sdk-0.3";
import type { AgentExecutor, ExecutionEventBus, RequestContext } from "@a2a-js/sdk-0.3/server";
import type { JsonObject } from "@bufbuild/protobuf";
import { playScript, type ScriptTools } from "./contract-script.ts";
import { commands } from "./contract-work.ts";

/** The contract's agent, written for `@a2a-js/sdk` 0.3. @param table the data that it makes */
export function createJsSdk03Agent(table: JsonObject): AgentExecutor {
  const contexts = new Map<string, string>();
  const waiting = new Map<string, () => void>();
  return {
    async execute(context, bus) {
      const { taskId, contextId } = context;
      const said = readWords(context);
      const [command, ...words] = said[0]?.split(" ") ?? [];
      if (command === commands.echo) {
        bus.publish(say({ contextId }, words.join(" ")));
        bus.finished();
        return;
      }
      contexts.set(taskId, contextId);
      bus.publish(openTask(context));
      const tools = createTools(context, bus);
      if (command === commands.wait) {
        tools.status("working", "waiting");
        await new Promise<void>((resolve) => waiting.set(taskId, resolve));
      } else {
        playScript(said, { ...tools, data: (id) => tools.data(id, table) });
      }
      bus.finished();
    },
    async cancelTask(taskId, bus) {
      createTools({ taskId, contextId: contexts.get(taskId) ?? "" }, bus).status("canceled", "as you wish");
      waiting.get(taskId)?.();
      bus.finished();
    },
  };
}

const lastStates = ["completed", "failed", "rejected", "canceled", "input-required"];

function createTools(ids: Pick<RequestContext, "taskId" | "contextId">, bus: ExecutionEventBus): ScriptTools {
  const publish = (id: string, part: Part, append = false) =>
    bus.publish({
      kind: "artifact-update",
      ...pickIds(ids),
      artifact: { artifactId: id, name: id, parts: [part] },
      append,
      lastChunk: false,
    });
  return {
    status: (state, words) =>
      bus.publish({
        kind: "status-update",
        ...pickIds(ids),
        status: {
          state,
          timestamp: new Date().toISOString(),
          ...(words === undefined ? {} : { message: say(ids, words) }),
        },
        final: lastStates.includes(state),
      }),
    text: (id, text, append) => publish(id, { kind: "text", text }, append),
    data: (id, data) => publish(id, { kind: "data", data }),
    file: (id, bytes, mimeType, name) =>
      publish(id, { kind: "file", file: { bytes: Buffer.from(bytes).toString("base64"), mimeType, name } }),
  };
}

function pickIds({ taskId, contextId }: Pick<RequestContext, "taskId" | "contextId">) {
  return { taskId, contextId };
}

/** The task that every execution has to begin with, also that of an answer. */
function openTask({ task, taskId, contextId, userMessage }: RequestContext): Task {
  return (
    task ?? {
      kind: "task",
      id: taskId,
      contextId,
      status: { state: "submitted", timestamp: new Date().toISOString() },
      artifacts: [],
      history: [userMessage],
    }
  );
}

function say(ids: { readonly taskId?: string; readonly contextId: string }, words: string): Message {
  const { taskId, contextId } = ids;
  return {
    kind: "message",
    messageId: crypto.randomUUID(),
    contextId,
    ...(taskId === undefined ? {} : { taskId }),
    role: "agent",
    parts: [{ kind: "text", text: words }],
  };
}

/** What the caller has said in this task, oldest first. */
function readWords({ task, userMessage }: RequestContext): readonly string[] {
  const earlier = (task?.history ?? []).filter(
    ({ role, messageId }) => role === "user" && messageId !== userMessage.messageId,
  );
  return [...earlier, userMessage].map(({ parts: [first] }) => (first?.kind === "text" ? first.text : ""));
}
