import { formatTaskState, readLifecycleReport } from "@a2a-connect/core";
import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
  TaskStateSchema,
  type TaskStatus,
} from "@a2a-connect/proto";
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { timestampDate, ValueSchema } from "@bufbuild/protobuf/wkt";
import { formatJsonDocument, type Output, type Style } from "../output.ts";

// Text of what a task is made of. All of it prints nothing in `json`, where the protocol's own JSON is the output.

/** A task: identifiers, state, what was said last, every artifact; its history where that is wanted. */
export async function renderTask(
  output: Output,
  task: Task,
  history: boolean = output.verbose,
): Promise<void> {
  await renderIdentity(output, task.id, task.contextId);
  await renderStatus(output, task.status);
  await renderMetadata(output, "Task Metadata", task.metadata);
  if (history) {
    for (const message of task.history) await renderMessage(output, message);
  }
  for (const artifact of task.artifacts) await renderArtifact(output, artifact);
}

/** A message: whose it is, the context and task it belongs to, and every part. */
export async function renderMessage(output: Output, message: Message): Promise<void> {
  await output.fields({
    Message: message.messageId,
    From: message.role === Role.USER ? "user" : "agent",
    Context: message.contextId,
    Task: message.taskId,
    "Referenced Task": output.verbose ? message.referenceTaskIds : undefined,
    Extension: output.verbose ? message.extensions : undefined,
  });
  await renderMetadata(output, "Message Metadata", message.metadata);
  for (const part of message.parts) await renderPart(output, part);
}

/** An artifact: name, id, description, and every part; chunks of text make one text. @param continued after parts that were shown */
export async function renderArtifact(
  output: Output,
  artifact: Artifact,
  continued: boolean = false,
): Promise<void> {
  await output.fields({
    Artifact: `${artifactTitle(artifact)}${continued ? ", continued" : ""}`,
    Description: artifact.description,
    Extension: output.verbose ? artifact.extensions : undefined,
  });
  await renderMetadata(output, "Artifact Metadata", artifact.metadata);
  for (const part of joinText(artifact.parts)) await renderPart(output, part);
}

/** One event of a stream. Each names its task and context, so the last one does, too (a2a-cli §11.2). */
export async function renderEvent(output: Output, { payload }: StreamResponse): Promise<void> {
  switch (payload.case) {
    case "task":
      return await renderTask(output, payload.value);
    case "message":
      return await renderMessage(output, payload.value);
    case "statusUpdate": {
      const { taskId, contextId, status, metadata } = payload.value;
      await renderIdentity(output, taskId, contextId);
      await renderStatus(output, status);
      return await renderMetadata(output, "Event Metadata", metadata);
    }
    case "artifactUpdate": {
      const { taskId, contextId, artifact, append, metadata } = payload.value;
      await renderIdentity(output, taskId, contextId);
      await renderMetadata(output, "Event Metadata", metadata);
      if (artifact !== undefined) await renderArtifact(output, artifact, append);
      return;
    }
    case undefined:
      return await output.warn("the agent sent an event without content");
  }
}

export async function renderIdentity(output: Output, taskId: string, contextId: string): Promise<void> {
  await output.fields({ Task: taskId, Context: contextId });
}

/** At a terminal as a word, elsewhere by the name that it has on the wire, also one that this version does not know. */
export async function renderState(output: Output, { state = 0 }: Partial<TaskStatus> = {}): Promise<void> {
  const name = TaskStateSchema.value[state]?.name ?? String(state);
  await output.field("State", output.isTerminal ? formatTaskState(state) : name, stateStyle(state));
}

/** What has failed, what waits for the user and what goes on never look alike. */
export function stateStyle(state: TaskState): Style {
  return styles[state] ?? "cyan";
}

const styles: Readonly<Partial<Record<TaskState, Style>>> = {
  [TaskState.COMPLETED]: "green",
  [TaskState.FAILED]: "red",
  [TaskState.REJECTED]: "red",
  [TaskState.INPUT_REQUIRED]: "yellow",
  [TaskState.AUTH_REQUIRED]: "yellow",
  [TaskState.CANCELED]: "dim",
};

export async function renderStatus(output: Output, status: TaskStatus | undefined): Promise<void> {
  await renderState(output, status);
  // What the lifecycle extension says about it. Agents write it, so each member may be anything.
  const { reason, progress, ...report } = readLifecycleReport(status?.message?.metadata);
  const { estimatedCompletion: expected, retryAfterSeconds: retryAfter } = report;
  await output.fields({
    Reason: typeof reason === "string" ? reason : undefined,
    Progress: typeof progress === "number" ? `${Math.round(progress * 100)} %` : undefined,
    Expected: typeof expected === "string" ? expected : undefined,
    "Retry After": typeof retryAfter === "number" ? `${retryAfter} s` : undefined,
    Updated: output.verbose && status?.timestamp ? timestampDate(status.timestamp).toISOString() : undefined,
  });
  if (status?.message === undefined) return;
  const { messageId, metadata, parts } = status.message;
  if (output.verbose) await output.field("Message", messageId);
  await renderMetadata(output, "Message Metadata", metadata);
  for (const part of parts) await renderPart(output, part);
}

async function renderMetadata(output: Output, label: string, metadata?: JsonObject): Promise<void> {
  if (output.verbose && metadata !== undefined)
    await output.block(label, formatJsonDocument(metadata, false));
}

/** `report (artifact-1)`, or the id alone. */
export function artifactTitle({ name, artifactId }: Artifact): string {
  return name === "" || name === artifactId ? artifactId : `${name} (${artifactId})`;
}

/** Chunks of text, one after the other as they were streamed, as the one text that they are. */
export function joinText(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const before = joined.at(-1);
    if (before?.content.case === "text" && part.content.case === "text" && isContinued(before, part)) {
      const value = before.content.value + part.content.value;
      joined[joined.length - 1] = { ...before, content: { case: "text", value } };
    } else {
      joined.push(part);
    }
  }
  return joined;
}

function isContinued(before: Part, part: Part): boolean {
  return (
    before.metadata === undefined &&
    part.metadata === undefined &&
    before.filename === part.filename &&
    before.mediaType === part.mediaType
  );
}

/** None is left out (a2a-cli §10.2): text as it is, data as indented JSON, files as one line with name, media type and size. */
export async function renderPart(output: Output, part: Part): Promise<void> {
  const { content, filename, mediaType } = part;
  if (output.verbose && content.case !== "raw" && content.case !== "url") {
    await output.fields({ "Part Name": filename, "Part Media Type": mediaType });
  }
  const file = (size: string): Promise<void> =>
    output.field("File", [filename || "unnamed", mediaType || "type unknown", size].join(", "));
  switch (content.case) {
    case "text":
      await output.block("Text", content.value);
      break;
    case "data":
      await output.block("Data", formatJsonDocument(toJson(ValueSchema, content.value), false));
      break;
    case "raw":
      await file(`${content.value.byteLength} bytes`);
      break;
    case "url":
      await file(`size unknown, at ${content.value}`);
      break;
    case undefined:
      await output.field("Part", "empty, or of a kind that this version does not know");
  }
  await renderMetadata(output, "Part Metadata", part.metadata);
}

const barCells = 20;

/** `████░░░░░░  40%`. @param fraction from 0 to 1; what lies outside, since agents write it, is taken for the nearest of them */
export function progressBar(fraction: number): string {
  const known = Math.min(Math.max(fraction, 0), 1);
  const done = Math.floor(known * barCells);
  return `${"█".repeat(done)}${"░".repeat(barCells - done)} ${`${Math.floor(known * 100)}%`.padStart(4)}`;
}
