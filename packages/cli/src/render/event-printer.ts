import { partText, readLifecycleReport } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import {
  type Artifact,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskState,
  type TaskStatus,
} from "@a2a-connect/proto";
import { type Output, toLine, toText } from "../output.ts";
import {
  artifactTitle,
  joinText,
  progressBar,
  renderEvent,
  renderIdentity,
  renderPart,
  renderStatus,
} from "./task-text.ts";

/** Before each line of an agent's text at a terminal, so that none of them looks like a field of ours. */
const indent = "  ";

/**
 * Prints the events of a stream, one after the other: in `json` a line each, in `text` as fields and blocks. At a terminal the text of an
 * artifact grows as it comes, progress is redrawn, and what has been said of a task is not said again: servers begin a stream with a
 * snapshot of the task, and send another after a gap.
 */
export class EventPrinter {
  readonly #output: Output;
  /** The artifact whose text is growing. */
  #growing: { readonly id: string; readonly atLineStart: boolean } | undefined;
  #taskId: string | undefined;
  /** Parts of each artifact of the task that were printed, by its id. */
  readonly #parts = new Map<string, number>();
  /** The message of the status that was printed last. */
  #messageId: string | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  async print(event: StreamResponse): Promise<void> {
    const output = this.#output;
    await output.event(formatMessage(StreamResponseSchema, event));
    const { payload } = event;
    const isWhole = payload.case === "message" || payload.case === undefined;
    if (!output.isTerminal || output.verbose || isWhole) {
      await this.end();
      return await renderEvent(output, event);
    }
    const taskId = payload.case === "task" ? payload.value.id : payload.value.taskId;
    if (this.#taskId !== taskId) {
      await this.end();
      this.#taskId = taskId;
      this.#parts.clear();
      this.#messageId = undefined;
      await renderIdentity(output, taskId, payload.value.contextId);
    }
    switch (payload.case) {
      case "task":
        await this.#printStatus(payload.value.status);
        return await this.#printMissed(payload.value);
      case "statusUpdate":
        return await this.#printStatus(payload.value.status);
      case "artifactUpdate":
        if (payload.value.artifact === undefined) return;
        return await this.#printArtifact(payload.value.artifact, payload.value.append);
    }
  }

  /** Ends the line of text that is growing. */
  async end(): Promise<void> {
    if (this.#growing?.atLineStart === false) await this.#output.write("\n");
    this.#growing = undefined;
  }

  async #printStatus(status: TaskStatus | undefined): Promise<void> {
    const { messageId = "" } = status?.message ?? {};
    if (messageId !== "" && messageId === this.#messageId) return;
    this.#messageId = messageId;
    if (status?.state === TaskState.WORKING && (await this.#draw(status))) return;
    await this.end();
    await renderStatus(this.#output, status);
  }

  /** @returns whether the progress of a task that is at work is shown, in a line that the next one replaces */
  async #draw({ message }: TaskStatus): Promise<boolean> {
    const output = this.#output;
    const { progress } = readLifecycleReport(message?.metadata);
    if (message === undefined || typeof progress !== "number" || !Number.isFinite(progress)) return false;
    if (this.#growing?.atLineStart === false) {
      await output.write("\n");
      this.#growing = { ...this.#growing, atLineStart: true };
    }
    const line = `${progressBar(progress)} ${toLine(partText(message))}`.trimEnd();
    return await output.progress(output.paint("cyan", line.slice(0, (process.stdout.columns || 80) - 1)));
  }

  /** What a snapshot has of artifacts beyond what was printed. */
  async #printMissed({ artifacts }: Task): Promise<void> {
    for (const artifact of artifacts) {
      const seen = this.#parts.get(artifact.artifactId);
      const parts = artifact.parts.slice(seen ?? 0);
      if (seen === undefined || parts.length > 0) {
        await this.#printArtifact({ ...artifact, parts }, seen !== undefined);
      }
    }
  }

  /** @param append whether the parts come after those that it has; else they are all of them */
  async #printArtifact(artifact: Artifact, append: boolean): Promise<void> {
    const output = this.#output;
    const { artifactId: id, parts } = artifact;
    if (!append || this.#growing?.id !== id) {
      await this.end();
      await output.field("Artifact", `${artifactTitle(artifact)}${append ? ", continued" : ""}`);
    }
    this.#parts.set(id, (append ? (this.#parts.get(id) ?? 0) : 0) + parts.length);
    for (const part of joinText(parts)) {
      if (part.content.case === "text") {
        await this.#grow(id, part.content.value);
      } else {
        await this.end();
        await renderPart(output, part);
      }
    }
  }

  async #grow(id: string, text: string): Promise<void> {
    const { atLineStart = true } = this.#growing ?? {};
    const visible = toText(text);
    if (visible === "") return;
    const lines = visible.replaceAll(/\n(?=.)/gs, `\n${indent}`);
    await this.#output.write(`${atLineStart ? indent : ""}${lines}`);
    this.#growing = { id, atLineStart: visible.endsWith("\n") };
  }
}
