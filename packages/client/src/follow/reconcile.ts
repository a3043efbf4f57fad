import {
  type Artifact,
  type Part,
  PartSchema,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
} from "@a2a-connect/proto";
import { create, equals } from "@bufbuild/protobuf";
import { isSameStatus } from "./task-status.ts";

/**
 * The events that turn `known` into `current`, for a server that cannot say what was missed: parts that were appended,
 * artifacts that are new or were replaced, then the status. Empty when nothing has changed.
 *
 * Several events that were missed come out as one: an artifact's new chunks as one update, of statuses only the last.
 */
export function reconcile(known: Task, current: Task): StreamResponse[] {
  const before = new Map(known.artifacts.map((artifact) => [artifact.artifactId, artifact]));
  const events = current.artifacts.flatMap((artifact) => {
    const update = compareArtifact(before.get(artifact.artifactId), artifact);
    return update === undefined ? [] : [artifactEvent(current, update)];
  });
  const { status } = current;
  if (status !== undefined && !isSameStatus(known.status, status)) {
    events.push(statusEvent(current, status));
  }
  return events;
}

interface ArtifactChange {
  readonly artifact: Artifact;
  readonly append: boolean;
}

function compareArtifact(known: Artifact | undefined, current: Artifact): ArtifactChange | undefined {
  if (known === undefined || !startsWith(current.parts, known.parts)) {
    return { artifact: current, append: false };
  }
  const added = current.parts.slice(known.parts.length);
  return added.length === 0 ? undefined : { artifact: { ...current, parts: added }, append: true };
}

function startsWith(parts: readonly Part[], beginning: readonly Part[]): boolean {
  return (
    parts.length >= beginning.length &&
    beginning.every((part, index) => {
      const other = parts[index];
      return other !== undefined && equals(PartSchema, part, other);
    })
  );
}

function artifactEvent({ id, contextId }: Task, { artifact, append }: ArtifactChange): StreamResponse {
  return create(StreamResponseSchema, {
    payload: { case: "artifactUpdate", value: { taskId: id, contextId, artifact, append } },
  });
}

function statusEvent({ id, contextId }: Task, status: NonNullable<Task["status"]>): StreamResponse {
  return create(StreamResponseSchema, {
    payload: { case: "statusUpdate", value: { taskId: id, contextId, status } },
  });
}
