import { type Artifact, type Message, type Part, Role, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { artifactId, chunk, parseOrder } from "./command.ts";
import { atGate, openGate } from "./gate.ts";
import { liveChunks, liveUpdates } from "./live-chunks.ts";

/** The bench's agent, written for the peer as its samples are: the task first, then its updates, on the event bus. */
export const peerAgent: AgentExecutor = {
  async execute(context, bus) {
    const { command, gated } = parseOrder(firstText(context.userMessage));
    if (command.kind === "echo") {
      bus.publish(AgentEvent.message(reply(context, command.text)));
      return;
    }
    if (command.kind === "go") {
      openGate();
      bus.publish(AgentEvent.message(reply(context, "gone")));
      return;
    }
    publishTask(context, bus);
    publishStatus(context, bus, TaskState.TASK_STATE_WORKING);
    if (gated) {
      await atGate();
    }
    switch (command.kind) {
      case "task":
        publishArtifact(context, bus, command.text, false);
        break;
      case "stream": {
        let append = false;
        for await (const words of liveChunks(command.chunks)) {
          publishArtifact(context, bus, words, append);
          append = true;
        }
        break;
      }
      case "burst":
        for (let sent = 0; sent < command.chunks; sent++) {
          publishArtifact(context, bus, chunk, sent > 0);
        }
        break;
      case "replace":
        for await (const words of liveUpdates(command.updates, command.bytes)) {
          publishArtifact(context, bus, words, false);
        }
        break;
      case "question":
        publishStatus(context, bus, TaskState.TASK_STATE_INPUT_REQUIRED, "Well?");
        return;
      case "hold":
        await new Promise(() => {});
        break;
    }
    publishStatus(context, bus, TaskState.TASK_STATE_COMPLETED);
  },
  async cancelTask() {},
};

function publishTask({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): void {
  bus.publish(
    AgentEvent.task({
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
    }),
  );
}

function publishStatus(
  { taskId, contextId }: RequestContext,
  bus: ExecutionEventBus,
  state: TaskState,
  words?: string,
): void {
  const message = words === undefined ? undefined : { ...reply({ taskId, contextId }, words), taskId };
  bus.publish(
    AgentEvent.statusUpdate({
      taskId,
      contextId,
      status: { state, message, timestamp: new Date().toISOString() },
      metadata: undefined,
    }),
  );
}

function publishArtifact(
  { taskId, contextId }: RequestContext,
  bus: ExecutionEventBus,
  words: string,
  append: boolean,
): void {
  const artifact: Artifact = {
    artifactId,
    name: "",
    description: "",
    parts: [textPart(words)],
    metadata: undefined,
    extensions: [],
  };
  bus.publish(
    AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk: false, metadata: undefined }),
  );
}

function reply({ contextId }: Pick<RequestContext, "taskId" | "contextId">, words: string): Message {
  return {
    messageId: crypto.randomUUID(),
    contextId,
    taskId: "",
    role: Role.ROLE_AGENT,
    parts: [textPart(words)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function textPart(words: string): Part {
  return { content: { $case: "text", value: words }, metadata: undefined, filename: "", mediaType: "" };
}

function firstText({ parts }: Message): string {
  const content = parts[0]?.content;
  return content?.$case === "text" ? content.value : "";
}
