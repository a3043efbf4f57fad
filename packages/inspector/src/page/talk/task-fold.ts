import { isInterrupted, isTerminal, readLifecycleReport } from "@a2a-connect/core";
import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type StreamResponse,
  TaskState,
  type TaskStatus,
} from "@a2a-connect/proto";
import { TextBlocks } from "./text-blocks.ts";

/** Parts as they are shown: texts that follow one another are one text. */
export type Piece =
  | { readonly is: "text"; readonly mediaType: string; readonly text: TextBlocks }
  | { readonly is: "part"; readonly part: Part };

/** An artifact as it has streamed in so far. */
export interface ArtifactFold {
  readonly id: string;
  name: string;
  description: string;
  pieces: Piece[];
  updates: number;
  isComplete: boolean;
}

/** What is shown of a task, in the order in which it came. */
export type Entry =
  | { readonly is: "input"; readonly parts: readonly Part[] }
  | { readonly is: "message"; readonly message: Message; readonly state: TaskState | undefined }
  | { readonly is: "artifact"; readonly artifact: ArtifactFold };

/**
 * A task as a conversation. Its cost is that of its events: ten thousand chunks of an artifact become one text.
 */
export class TaskFold {
  taskId = "";
  contextId = "";
  status: TaskStatus | undefined;
  /** What the agent said last about its progress. */
  progress: { readonly text: Message | undefined; readonly part: number | undefined } | undefined;
  readonly entries: Entry[] = [];
  events = 0;
  readonly #artifacts = new Map<string, ArtifactFold>();

  get state(): TaskState {
    return this.status?.state ?? TaskState.UNSPECIFIED;
  }

  /** What the caller has sent. */
  addInput(parts: readonly Part[]): void {
    this.entries.push({ is: "input", parts });
  }

  apply({ payload }: StreamResponse): void {
    this.events += 1;
    switch (payload.case) {
      case "task":
        this.taskId = payload.value.id;
        this.contextId = payload.value.contextId;
        // Of a task that another client has begun, the caller's words are known from the task alone.
        if (this.entries.length === 0) {
          for (const { role, parts } of payload.value.history) {
            if (role === Role.USER) this.addInput(parts);
          }
        }
        for (const artifact of payload.value.artifacts) this.#setArtifact(artifact);
        this.#setStatus(payload.value.status);
        return;
      case "message":
        this.contextId = payload.value.contextId;
        this.entries.push({ is: "message", message: payload.value, state: undefined });
        return;
      case "statusUpdate":
        this.taskId ||= payload.value.taskId;
        this.contextId ||= payload.value.contextId;
        this.#setStatus(payload.value.status);
        return;
      case "artifactUpdate": {
        const { artifact, append, lastChunk } = payload.value;
        if (artifact === undefined) return;
        const known = this.#artifacts.get(artifact.artifactId);
        const fold = append && known !== undefined ? extend(known, artifact) : this.#setArtifact(artifact);
        fold.isComplete = lastChunk;
        return;
      }
      case undefined:
        return;
    }
  }

  #setStatus(status: TaskStatus | undefined): void {
    const isSame =
      status?.message?.messageId !== undefined &&
      status.message.messageId === this.status?.message?.messageId;
    this.status = status;
    if (status === undefined) return;
    const { message, state } = status;
    if (isInterrupted(state) || isTerminal(state)) {
      this.progress = undefined;
      if (message !== undefined && !isSame) this.entries.push({ is: "message", message, state });
      return;
    }
    const part = readLifecycleReport(message?.metadata).progress;
    if (message !== undefined)
      this.progress = { text: message, part: typeof part === "number" ? part : undefined };
  }

  #setArtifact(artifact: Artifact): ArtifactFold {
    const known = this.#artifacts.get(artifact.artifactId);
    if (known !== undefined) {
      known.pieces = [];
      known.name = artifact.name;
      known.description = artifact.description;
      return extend(known, artifact);
    }
    const { artifactId: id, name, description } = artifact;
    const fold: ArtifactFold = { id, name, description, pieces: [], updates: 0, isComplete: false };
    this.#artifacts.set(id, fold);
    this.entries.push({ is: "artifact", artifact: fold });
    return extend(fold, artifact);
  }
}

function extend(fold: ArtifactFold, { parts, name, description }: Artifact): ArtifactFold {
  fold.updates += 1;
  fold.name ||= name;
  fold.description ||= description;
  addPieces(fold.pieces, parts);
  return fold;
}

/** Parts as pieces, behind those that are there. */
export function addPieces(pieces: Piece[], parts: readonly Part[]): void {
  for (const part of parts) {
    const last = pieces.at(-1);
    if (part.content.case !== "text" || part.filename !== "") {
      pieces.push({ is: "part", part });
    } else if (last?.is === "text" && last.mediaType === part.mediaType) {
      last.text.append(part.content.value);
    } else {
      const text = new TextBlocks();
      text.append(part.content.value);
      pieces.push({ is: "text", mediaType: part.mediaType, text });
    }
  }
}
