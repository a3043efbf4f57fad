import { type Artifact, type Message, type Part, Role, type Task, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { playScript, type ScriptState, type ScriptTools } from "./contract-script.ts";
import { commands } from "./contract-work.ts";

/** The contract's agent, written for `@a2a-js/sdk`: a task or a message first, then updates, on its event bus. */
export function createJsSdkAgent(): AgentExecutor {
  const contexts = new Map<string, string>();
  const waiting = new Map<string, () => void>();
  return {
    async execute(context, bus) {
      const said = readWords(context);
      const [command, ...words] = said[0]?.split(" ") ?? [];
      if (command === commands.echo) {
        bus.publish(AgentEvent.message(say({ contextId: context.contextId, taskId: "" }, words.join(" "))));
        return;
      }
      contexts.set(context.taskId, context.contextId);
      bus.publish(AgentEvent.task(openTask(context)));
      const tools = createTools(context, bus);
      if (command === commands.wait) {
        tools.status("working", "waiting");
        await new Promise<void>((resolve) => waiting.set(context.taskId, resolve));
        return;
      }
      playScript(said, tools);
    },
    async cancelTask(taskId, bus) {
      createTools({ taskId, contextId: contexts.get(taskId) ?? "" }, bus).status("canceled", "as you wish");
      waiting.get(taskId)?.();
    },
  };
}

const states: Readonly<Record<ScriptState, TaskState>> = {
  working: TaskState.TASK_STATE_WORKING,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  rejected: TaskState.TASK_STATE_REJECTED,
  canceled: TaskState.TASK_STATE_CANCELED,
  "input-required": TaskState.TASK_STATE_INPUT_REQUIRED,
  "auth-required": TaskState.TASK_STATE_AUTH_REQUIRED,
};

function createTools(ids: Pick<RequestContext, "taskId" | "contextId">, bus: ExecutionEventBus): ScriptTools {
  const { taskId, contextId } = ids;
  const publish = (id: string, content: Part, append = false) => {
    const artifact: Artifact = {
      artifactId: id,
      name: id,
      description: "",
      parts: [content],
      metadata: undefined,
      extensions: [],
    };
    bus.publish(
      AgentEvent.artifactUpdate({
        taskId,
        contextId,
        artifact,
        append,
        lastChunk: false,
        metadata: undefined,
      }),
    );
  };
  return {
    status(state, words) {
      const message = words === undefined ? undefined : say(ids, words);
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: { state: states[state], message, timestamp: new Date().toISOString() },
          metadata: undefined,
        }),
      );
    },
    text: (id, text, append) => publish(id, part({ $case: "text", value: text }), append),
    data: (id, data) => publish(id, part({ $case: "data", value: data })),
    file: (id, bytes, mediaType, name) =>
      publish(id, part({ $case: "raw", value: Buffer.from(bytes) }, mediaType, name)),
  };
}

/** The task that every execution has to begin with, also that of an answer. */
function openTask({ task, taskId, contextId, userMessage }: RequestContext): Task {
  return (
    task ?? {
      id: taskId,
      contextId,
      status: {
        state: TaskState.TASK_STATE_SUBMITTED,
        message: undefined,
        timestamp: new Date().toISOString(),
      },
      artifacts: [],
      history: [userMessage],
      metadata: undefined,
    }
  );
}

function say({ taskId, contextId }: Pick<RequestContext, "taskId" | "contextId">, words: string): Message {
  return {
    messageId: crypto.randomUUID(),
    contextId,
    taskId,
    role: Role.ROLE_AGENT,
    parts: [part({ $case: "text", value: words })],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function part(content: NonNullable<Part["content"]>, mediaType = "", filename = ""): Part {
  return { content, mediaType, filename, metadata: undefined };
}

/** What the caller has said in this task, oldest first. */
function readWords({ task, userMessage }: RequestContext): readonly string[] {
  const earlier = (task?.history ?? []).filter(
    ({ role, messageId }) => role === Role.ROLE_USER && messageId !== userMessage.messageId,
  );
  return [...earlier, userMessage].map(({ parts: [first] }) =>
    first?.content?.$case === "text" ? first.content.value : "",
  );
}
