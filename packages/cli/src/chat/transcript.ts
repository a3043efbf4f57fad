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

/** What of a task has been shown. */
export interface Transcript {
  /** The task that it is about; undefined before there is one. */
  readonly taskId: string | undefined;
  /** Parts of each artifact that were shown, by its id. */
  readonly parts: ReadonlyMap<string, number>;
  /** The artifact that was shown last. */
  readonly artifactId: string | undefined;
  /** Id of the status message that was shown last. */
  readonly statusMessageId: string | undefined;
}

/** Before anything was shown. */
export const emptyTranscript: Transcript = {
  taskId: undefined,
  parts: new Map(),
  artifactId: undefined,
  statusMessageId: undefined,
};

/** A transcript that has gone on, and what that adds to the screen. */
export interface TranscriptStep {
  readonly transcript: Transcript;
  readonly shown: readonly Shown[];
}

/**
 * What an event adds to what was shown. A snapshot of the task shows only what the events before it have not: servers
 * begin a stream with one, and send another after a gap.
 */
export function showEvent(before: Transcript, { payload }: StreamResponse): TranscriptStep {
  switch (payload.case) {
    case "message":
      return { transcript: before, shown: showMessage(payload.value) };
    case "task": {
      const task = payload.value;
      let step: TranscriptStep = { transcript: ofTask(before, task.id), shown: [] };
      for (const artifact of task.artifacts) {
        step = add(step, showArtifact(step.transcript, artifact, false));
      }
      return add(step, showStatus(step.transcript, task.status));
    }
    case "statusUpdate":
      return showStatus(ofTask(before, payload.value.taskId), payload.value.status);
    case "artifactUpdate": {
      const { taskId, artifact, append } = payload.value;
      const transcript = ofTask(before, taskId);
      if (artifact === undefined) return { transcript, shown: [] };
      return append
        ? showArtifact(transcript, artifact, true)
        : showArtifact(forget(transcript, artifact.artifactId), artifact, false);
    }
    case undefined:
      return { transcript: before, shown: [] };
  }
}

function add(step: TranscriptStep, next: TranscriptStep): TranscriptStep {
  return { transcript: next.transcript, shown: [...step.shown, ...next.shown] };
}

function ofTask(transcript: Transcript, taskId: string): Transcript {
  return transcript.taskId === taskId ? transcript : { ...emptyTranscript, taskId };
}

function forget(transcript: Transcript, artifactId: string): Transcript {
  const parts = new Map(transcript.parts);
  parts.delete(artifactId);
  return { ...transcript, parts };
}

function showMessage({ parts }: Message): Shown[] {
  return parts.map((part) =>
    part.content.case === "text" ? { kind: "words", text: part.content.value } : showPart(part),
  );
}

/** @param append whether the parts of `artifact` come after those that it has; else they are all of them */
function showArtifact(transcript: Transcript, artifact: Artifact, append: boolean): TranscriptStep {
  const { artifactId, name, parts } = artifact;
  const seen = transcript.parts.get(artifactId) ?? 0;
  const fresh = append ? parts : parts.slice(seen);
  if (fresh.length === 0 && transcript.parts.has(artifactId)) return { transcript, shown: [] };
  const isNext = transcript.artifactId === artifactId && seen > 0;
  const title: Shown = { kind: "artifact", title: name || artifactId, continued: seen > 0 };
  return {
    transcript: {
      ...transcript,
      artifactId,
      parts: new Map(transcript.parts).set(artifactId, seen + fresh.length),
    },
    shown: [...(isNext ? [] : [title]), ...fresh.map(showPart)],
  };
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

function showStatus(transcript: Transcript, status: TaskStatus | undefined): TranscriptStep {
  const message = status?.message;
  const state = status?.state ?? TaskState.UNSPECIFIED;
  const isRepeated = message !== undefined && message.messageId === transcript.statusMessageId;
  if (status === undefined || (isRepeated && !isSettled(state))) return { transcript, shown: [] };
  return {
    transcript: { ...transcript, statusMessageId: message?.messageId },
    shown: describeStatus(status, state, message),
  };
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
