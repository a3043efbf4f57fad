import { type Artifact, type Message, type Part, Role, type Task, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { commands, product, questions } from "./contract-work.ts";

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
        tools.status(TaskState.TASK_STATE_WORKING, "waiting");
        await new Promise<void>((resolve) => waiting.set(context.taskId, resolve));
        return;
      }
      act(command, words, said, tools);
    },
    async cancelTask(taskId, bus) {
      createTools({ taskId, contextId: contexts.get(taskId) ?? "" }, bus).status(
        TaskState.TASK_STATE_CANCELED,
        "as you wish",
      );
      waiting.get(taskId)?.();
    },
  };
}

function act(
  command: string | undefined,
  words: readonly string[],
  said: readonly string[],
  { status, artifact }: Tools,
): void {
  switch (command) {
    case commands.work:
      status(TaskState.TASK_STATE_WORKING, "begun");
      for (const [index, chunk] of product.chunks.entries()) {
        artifact("story", part({ $case: "text", value: chunk }), index > 0);
      }
      artifact("table", part({ $case: "data", value: product.table }));
      artifact(
        "picture",
        part({ $case: "raw", value: Buffer.from(product.picture) }, "image/png", "picture.png"),
      );
      status(TaskState.TASK_STATE_COMPLETED, product.closing);
      return;
    case commands.ask: {
      const question = questions[said.length - 1];
      if (question !== undefined) {
        status(TaskState.TASK_STATE_INPUT_REQUIRED, question);
        return;
      }
      artifact("answers", part({ $case: "text", value: said.slice(1).join(", ") }));
      status(TaskState.TASK_STATE_COMPLETED);
      return;
    }
    case commands.auth:
      if (said.length === 1) {
        status(TaskState.TASK_STATE_AUTH_REQUIRED, "Sign in, please.");
        return;
      }
      artifact("secret", part({ $case: "text", value: said[1] ?? "" }));
      status(TaskState.TASK_STATE_COMPLETED);
      return;
    case commands.fail:
      status(TaskState.TASK_STATE_WORKING, "trying");
      status(TaskState.TASK_STATE_FAILED, `it could not be done: ${words[0]}`);
      return;
    case commands.reject:
      status(TaskState.TASK_STATE_REJECTED, `it will not be done: ${words[0]}`);
      return;
    default: // of a caller that knows nothing of this agent
      artifact("answer", part({ $case: "text", value: said.at(-1) ?? "" }));
      status(TaskState.TASK_STATE_COMPLETED);
  }
}

interface Tools {
  status(state: TaskState, words?: string): void;
  artifact(id: string, content: Part, append?: boolean): void;
}

function createTools(ids: Pick<RequestContext, "taskId" | "contextId">, bus: ExecutionEventBus): Tools {
  const { taskId, contextId } = ids;
  return {
    status(state, words) {
      const message = words === undefined ? undefined : say(ids, words);
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: { state, message, timestamp: new Date().toISOString() },
          metadata: undefined,
        }),
      );
    },
    artifact(id, content, append = false) {
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
    },
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
