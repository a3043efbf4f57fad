import { isTerminal } from "@a2a-connect/core";
import { isSame, mergeMembers } from "@a2a-connect/core/internal";
import {
  type Artifact,
  type Part,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { isSameStatus } from "./task-status.ts";

/**
 * The events that turn `known` into `current`, for a server that cannot say which events were missed: appended parts,
 * new or replaced artifacts, then the status. Empty when nothing has changed.
 *
 * Several missed events become one: an artifact's new chunks are one update, and only the last status counts. An update
 * may have metadata and no parts. No event can carry the task's own metadata, so it has none here.
 */
export function reconcile(known: Task, current: Task): StreamResponse[] {
  const before = artifactsById(known);
  const isLast = current.status !== undefined && isTerminal(current.status.state);
  const events: StreamResponse[] = [];
  for (const [id, artifact] of artifactsById(current)) {
    const update = compareArtifact(before.get(id), artifact);
    if (update !== undefined) {
      events.push(artifactEvent(current, update, isLast));
    }
  }
  const { status } = current;
  if (status !== undefined && !isSameStatus(known.status, status)) {
    events.push(statusEvent(current, status));
  }
  return events;
}

/**
 * The last artifact of each id. A known one is compared once in this way, however often an agent repeats its id: each
 * comparison costs as much as the known artifact has members of metadata.
 */
function artifactsById({ artifacts }: Task): Map<string, Artifact> {
  return new Map(artifacts.map((artifact) => [artifact.artifactId, artifact]));
}

interface ArtifactChange {
  readonly artifact: Artifact;
  readonly append: boolean;
}

function compareArtifact(known: Artifact | undefined, current: Artifact): ArtifactChange | undefined {
  if (known === undefined || !startsWith(current.parts, known.parts) || !extendsTo(known, current)) {
    return { artifact: current, append: false };
  }
  const added = current.parts.slice(known.parts.length);
  const isSame = added.length === 0 && equalsButParts(known, current);
  return isSame ? undefined : { artifact: { ...current, parts: added }, append: true };
}

/** Whether an append can turn one into the other: an append sets empty names and adds metadata. */
function extendsTo(known: Artifact, current: Artifact): boolean {
  const metadata = mergeMembers(known.metadata, current.metadata);
  return equalsButParts(current, {
    ...known,
    name: known.name || current.name,
    description: known.description || current.description,
    ...(known.metadata === undefined && current.metadata === undefined ? {} : { metadata }),
  });
}

function equalsButParts(one: Artifact, other: Artifact): boolean {
  return isSame({ ...one, parts: [] }, { ...other, parts: [] });
}

function startsWith(parts: readonly Part[], beginning: readonly Part[]): boolean {
  return parts.length >= beginning.length && beginning.every((part, index) => isSame(part, parts[index]));
}

function artifactEvent(
  { id, contextId }: Task,
  { artifact, append }: ArtifactChange,
  lastChunk: boolean,
): StreamResponse {
  return create(StreamResponseSchema, {
    payload: { case: "artifactUpdate", value: { taskId: id, contextId, artifact, append, lastChunk } },
  });
}

function statusEvent({ id, contextId }: Task, status: NonNullable<Task["status"]>): StreamResponse {
  return create(StreamResponseSchema, {
    payload: { case: "statusUpdate", value: { taskId: id, contextId, status } },
  });
}
