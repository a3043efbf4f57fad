import { formatTaskState, isInterrupted, isTerminal, partText, readLifecycleReport } from "@a2a-connect/core";
import {
  type AgentCard,
  type Artifact,
  type Part,
  type StreamResponse,
  type Task,
  TaskState,
  type TaskStatus,
} from "@a2a-connect/proto";
import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { describeFailure } from "../failures.ts";
import { toLine, toSentence } from "../output.ts";
import { formatJson, progressBar } from "../render/task-text.ts";
import { stateOf } from "../task/following.ts";
import { describeSchema, questionOf } from "./question.ts";
import type { Screen } from "./screen.ts";

export interface ChatView {
  event(event: StreamResponse): Promise<void>;
  /** What followed on a message is over; `task` is what it went to, unless that goes on without us. */
  settled(task: Task | undefined): Promise<void>;
  /** A task on request: its ids, its state, what it has. */
  task(task: Task): Promise<void>;
  say(sentence: string): Promise<void>;
  /** Something went wrong. The chat goes on where this resolves. @throws the error, where the chat is to end with it */
  failure(error: unknown): Promise<void>;
}

/**
 * The conversation for a person at a terminal. Everything from the agent is stripped of control sequences. Of a snapshot of a task it
 * shows only what the events before have not: servers begin a stream with one, and send another after a gap.
 */
export class TerminalView implements ChatView {
  readonly #screen: Screen;
  #contextId = "";
  #taskId: string | undefined;
  /** Parts of each artifact that were shown, by its id. */
  readonly #parts = new Map<string, number>();
  #artifactId: string | undefined;
  #statusMessageId: string | undefined;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** To be called once, before the first line. */
  async greet({ name, description }: AgentCard): Promise<void> {
    await this.#screen.line(toLine(name), "bold");
    if (description !== "") await this.#screen.line(toLine(description), "dim");
    await this.#screen.line("/help lists the commands, Ctrl-D ends the chat", "dim");
  }

  async event({ payload }: StreamResponse): Promise<void> {
    switch (payload.case) {
      case "message":
        for (const part of payload.value.parts) {
          await (part.content.case === "text" ? this.#screen.line(part.content.value) : this.#showPart(part));
        }
        return;
      case "task":
        this.#turnTo(payload.value.id);
        for (const artifact of payload.value.artifacts) await this.#showArtifact(artifact, false);
        return await this.#showStatus(payload.value.status);
      case "statusUpdate":
        this.#turnTo(payload.value.taskId);
        return await this.#showStatus(payload.value.status);
      case "artifactUpdate": {
        const { taskId, artifact, append } = payload.value;
        this.#turnTo(taskId);
        if (artifact === undefined) return;
        if (!append) this.#parts.delete(artifact.artifactId);
        return await this.#showArtifact(artifact, append);
      }
      case undefined:
    }
  }

  async settled(task: Task | undefined): Promise<void> {
    await this.#screen.finish();
    if (task === undefined) return;
    await this.#screen.line(toLine(`task ${task.id}`), "dim");
    if (task.contextId !== this.#contextId)
      await this.#screen.line(toLine(`context ${task.contextId}`), "dim");
    this.#contextId = task.contextId;
  }

  async task(task: Task): Promise<void> {
    await this.#screen.line(toLine(`Task: ${task.id}`));
    await this.#screen.line(toLine(`Context: ${task.contextId}`));
    await this.#screen.line(`State: ${formatTaskState(stateOf(task))}`);
    for (const { artifactId, name, parts } of task.artifacts) {
      const count = parts.length === 1 ? "1 part" : `${parts.length} parts`;
      await this.#screen.line(toLine(`Artifact: ${name || artifactId}, ${count}`));
    }
  }

  say(sentence: string): Promise<void> {
    return this.#screen.line(sentence, "dim");
  }

  async failure(error: unknown): Promise<void> {
    const { message, hint } = await describeFailure(error, { hasCredentials: true });
    await this.#screen.line(toSentence(`error: ${message}`), "red");
    if (hint !== null) await this.#screen.line(hint, "dim");
  }

  #turnTo(taskId: string): void {
    if (this.#taskId === taskId) return;
    this.#taskId = taskId;
    this.#parts.clear();
    this.#artifactId = undefined;
    this.#statusMessageId = undefined;
  }

  /** @param append whether the parts of `artifact` come after those that it has; else they are all of them */
  async #showArtifact({ artifactId, name, parts }: Artifact, append: boolean): Promise<void> {
    const seen = this.#parts.get(artifactId) ?? 0;
    const fresh = append ? parts : parts.slice(seen);
    if (fresh.length === 0 && this.#parts.has(artifactId)) return;
    if (this.#artifactId !== artifactId || seen === 0) {
      await this.#screen.line(`${toLine(name || artifactId)}${seen > 0 ? ", continued" : ""}:`, "bold");
    }
    this.#artifactId = artifactId;
    this.#parts.set(artifactId, seen + fresh.length);
    for (const part of fresh) await this.#showPart(part);
  }

  /** A text goes on where the one before has ended. */
  async #showPart({ content, filename, mediaType }: Part): Promise<void> {
    switch (content.case) {
      case "text":
        return await this.#screen.stream(content.value);
      case "data":
        return await this.#screen.line(formatJson(toJson(ValueSchema, content.value)));
      default: {
        const size = content.case === "raw" ? `${content.value.byteLength} bytes` : content.value;
        const details = [
          filename || "unnamed",
          mediaType,
          size ?? "of a kind that this version does not know",
        ];
        return await this.#screen.line(toLine(`[${details.filter((each) => each !== "").join(", ")}]`));
      }
    }
  }

  async #showStatus(status: TaskStatus | undefined): Promise<void> {
    if (status === undefined) return;
    const { state, message } = status;
    const isRepeated = message !== undefined && message.messageId === this.#statusMessageId;
    if (isInterrupted(state)) {
      await this.#showQuestion(status);
    } else if (isTerminal(state)) {
      await this.#showEnd(status);
    } else if (!isRepeated && message !== undefined) {
      const { progress } = readLifecycleReport(message.metadata);
      const text = partText(message);
      if (typeof progress === "number" && Number.isFinite(progress)) {
        await this.#screen.below(`${progressBar(progress)} ${toLine(text)}`.trimEnd());
      } else if (text !== "") {
        await this.#screen.line(text, "dim");
      }
    }
    this.#statusMessageId = message?.messageId;
  }

  async #showQuestion(status: TaskStatus): Promise<void> {
    const { kind, text, choices = [], schema } = questionOf(status);
    const words = kind === "auth" ? "The agent wants credentials." : "The agent waits for an answer.";
    await this.#screen.line(text === "" ? words : text, "bold");
    for (const [index, choice] of choices.entries()) {
      await this.#screen.line(`  ${index + 1}. ${toLine(choice)}`);
    }
    if (choices.length > 0) await this.say("  answer with a number, or in words");
    if (schema !== undefined) await this.say(toLine(`  answer as JSON: ${describeSchema(schema)}`));
    if (kind === "auth") await this.say("  sign in, then press Enter to wait; other text goes to the agent");
  }

  async #showEnd({ state, message }: TaskStatus): Promise<void> {
    const text = message === undefined ? "" : partText(message);
    const { reason } = readLifecycleReport(message?.metadata);
    const name = formatTaskState(state);
    const why = typeof reason === "string" && reason !== "" && reason !== name ? ` (${reason})` : "";
    const isGood = state === TaskState.COMPLETED;
    if (text !== "") await this.#screen.line(text);
    await this.#screen.line(`${isGood ? "✓" : "✗"} ${name}${toLine(why)}`, isGood ? "green" : "red");
  }
}
