import { formatTaskState, isSettled, partText, readLifecycleReport } from "@a2a-connect/core";
import {
  type Artifact,
  type Message,
  type Part,
  type StreamResponse,
  TaskState,
  type TaskStatus,
} from "@a2a-connect/proto";
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { questionOf } from "./question.ts";

/** Something to be shown, as it came from the agent: nothing in it has been stripped yet. */
export type Shown =
  | { readonly kind: "words"; readonly text: string }
  | { readonly kind: "step"; readonly text: string }
  /** How far the work is; the next one takes its place. `fraction` from 0 to 1. */
  | { readonly kind: "progress"; readonly fraction: number; readonly text: string }
  | { readonly kind: "artifact"; readonly title: string; readonly continued: boolean }
  /** A piece of text that goes on where the one before has ended. */
  | { readonly kind: "chunk"; readonly text: string }
  | { readonly kind: "data"; readonly text: string }
  | { readonly kind: "file"; readonly name: string; readonly mediaType: string; readonly size: string }
  | {
      readonly kind: "question";
      readonly wants: "input" | "auth";
      readonly text: string;
      readonly choices: readonly string[];
      readonly schema: JsonObject | undefined;
    }
  | { readonly kind: "end"; readonly state: TaskState; readonly text: string; readonly reason: string };

/**
 * What of a task has been shown, and what each event adds to it. A snapshot of the task shows only what the events before it
 * have not: servers begin a stream with one, and send another after a gap.
 */
export class Transcript {
  /** The task that it is about; undefined before there is one. */
  #taskId: string | undefined;
  /** Parts of each artifact that were shown, by its id. */
  #parts = new Map<string, number>();
  /** The artifact that was shown last. */
  #artifactId: string | undefined;
  /** Id of the status message that was shown last. */
  #statusMessageId: string | undefined;

  /** What an event adds to what was shown. */
  show({ payload }: StreamResponse): Shown[] {
    switch (payload.case) {
      case "message":
        return payload.value.parts.map((part) =>
          part.content.case === "text" ? { kind: "words", text: part.content.value } : showPart(part),
        );
      case "task": {
        const { id, artifacts, status } = payload.value;
        this.#turnTo(id);
        return [
          ...artifacts.flatMap((artifact) => this.#showArtifact(artifact, false)),
          ...this.#showStatus(status),
        ];
      }
      case "statusUpdate":
        this.#turnTo(payload.value.taskId);
        return this.#showStatus(payload.value.status);
      case "artifactUpdate": {
        const { taskId, artifact, append } = payload.value;
        this.#turnTo(taskId);
        if (artifact === undefined) return [];
        if (!append) this.#parts.delete(artifact.artifactId);
        return this.#showArtifact(artifact, append);
      }
      case undefined:
        return [];
    }
  }

  #turnTo(taskId: string): void {
    if (this.#taskId === taskId) return;
    this.#taskId = taskId;
    this.#parts.clear();
    this.#artifactId = undefined;
    this.#statusMessageId = undefined;
  }

  /** @param append whether the parts of `artifact` come after those that it has; else they are all of them */
  #showArtifact({ artifactId, name, parts }: Artifact, append: boolean): Shown[] {
    const seen = this.#parts.get(artifactId) ?? 0;
    const fresh = append ? parts : parts.slice(seen);
    if (fresh.length === 0 && this.#parts.has(artifactId)) return [];
    const isNext = this.#artifactId === artifactId && seen > 0;
    this.#artifactId = artifactId;
    this.#parts.set(artifactId, seen + fresh.length);
    const title: Shown = { kind: "artifact", title: name || artifactId, continued: seen > 0 };
    return [...(isNext ? [] : [title]), ...fresh.map(showPart)];
  }

  #showStatus(status: TaskStatus | undefined): Shown[] {
    const message = status?.message;
    const state = status?.state ?? TaskState.UNSPECIFIED;
    const isRepeated = message !== undefined && message.messageId === this.#statusMessageId;
    if (status === undefined || (isRepeated && !isSettled(state))) return [];
    this.#statusMessageId = message?.messageId;
    return describeStatus(status, state, message);
  }
}

function showPart({ content, filename, mediaType }: Part): Shown {
  switch (content.case) {
    case "text":
      return { kind: "chunk", text: content.value };
    case "data":
      return { kind: "data", text: JSON.stringify(toJson(ValueSchema, content.value), undefined, 2) };
    case "raw":
      return { kind: "file", name: filename, mediaType, size: `${content.value.byteLength} bytes` };
    case "url":
      return { kind: "file", name: filename, mediaType, size: content.value };
    case undefined:
      return { kind: "file", name: filename, mediaType, size: "of a kind that this version does not know" };
  }
}

function describeStatus(status: TaskStatus, state: TaskState, message: Message | undefined): Shown[] {
  const text = message === undefined ? "" : partText(message);
  const { progress, reason } = readLifecycleReport(message?.metadata);
  switch (state) {
    case TaskState.INPUT_REQUIRED:
    case TaskState.AUTH_REQUIRED: {
      const { kind, choices = [], schema } = questionOf(status);
      return [{ kind: "question", wants: kind, text, choices, schema }];
    }
    case TaskState.COMPLETED:
    case TaskState.FAILED:
    case TaskState.CANCELED:
    case TaskState.REJECTED:
      return [{ kind: "end", state, text, reason: typeof reason === "string" ? reason : "" }];
    default:
      if (typeof progress === "number" && Number.isFinite(progress)) {
        return [{ kind: "progress", fraction: progress, text }];
      }
      return text === "" ? [] : [{ kind: "step", text }];
  }
}

/** How an end is called on the screen. */
export function formatEnd({ state, reason }: Extract<Shown, { kind: "end" }>): string {
  const name = formatTaskState(state);
  return reason === "" || reason === name ? name : `${name} (${reason})`;
}
