import type {
  Artifact,
  Message,
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
} from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import { mergeMembers, setMember } from "./json/json-value.ts";
import { canTransition, formatTaskState, isInterrupted } from "./task-state.ts";

/** One step of the fold: an event of the wire, or the caller's message. */
export type TaskStep = StreamResponse["payload"] | { readonly case: "input"; readonly value: Message };

/**
 * Folds one step into a task and returns the task: `task` itself, changed in place, or a copy of the Task in the step.
 *
 * It changes the task in place because an append must cost only what it appends, at any size of the artifact. Code that
 * hands a task to a reader copies it first (`copyTask`, `shareTask`).
 *
 * History follows from the fold and is never a step of its own (requirement C-5): when a status replaces an interrupted
 * one, the message of the interrupted status goes to the end of history, before the answer. The message of a WORKING
 * status is progress: it is dropped with its status.
 *
 * @throws Error when the step breaks the state table or cannot be part of a task; the task is then unchanged
 */
export function applyStep(task: Task | undefined, step: TaskStep): Task {
  if (step.case === "task") {
    return copyTask(step.value);
  }
  if (task === undefined) {
    throw new Error(`a task begins with a task, not with ${step.case ?? "an empty payload"}`);
  }
  switch (step.case) {
    case "statusUpdate":
      applyStatus(task, step.value.status);
      return task;
    case "artifactUpdate":
      applyArtifact(task, step.value);
      return task;
    case "input":
      archiveQuestion(task);
      task.history.push(step.value);
      return task;
    case "message":
    case undefined:
      throw new Error("the log of a task cannot carry a direct message or an empty payload");
  }
}

/**
 * A copy whose lists do not change with the original. Both share messages and parts, which are never changed, and the metadata of
 * artifacts, which the fold copies before it changes it: one artifact may have 100,000 names, and a task is copied for each message to it.
 */
export function copyTask(task: Task): Task {
  return { ...task, history: [...task.history], artifacts: task.artifacts.map(copyArtifact) };
}

/**
 * A copy of a task that goes on, for readers who change nothing in it. It shares its artifacts: the fold copies one when
 * it next changes it, because a task may have thousands of artifacts, and of these few change between two readers.
 */
export function shareTask(task: Task): Task {
  const known = foldedArtifacts.get(task);
  if (known !== undefined) {
    known.shared = task.artifacts.length;
    known.own.clear();
  }
  return { ...task, history: [...task.history], artifacts: [...task.artifacts] };
}

function applyStatus(task: Task, status: TaskStatus | undefined): void {
  const from = task.status?.state;
  if (status === undefined || !canTransition(from, status.state)) {
    const names = [from ?? 0, status?.state ?? 0].map(formatTaskState);
    throw new Error(`a task cannot go from ${names.join(" to ")}`);
  }
  archiveQuestion(task);
  task.status = status;
}

function archiveQuestion(task: Task): void {
  const { status } = task;
  if (status?.message !== undefined && isInterrupted(status.state)) {
    const { message, ...rest } = status;
    task.history.push(message);
    task.status = rest;
  }
}

/** `append` adds parts to the artifact of that id; anything else creates or replaces it (requirement A-29). */
function applyArtifact(task: Task, { artifact, append }: TaskArtifactUpdateEvent): void {
  if (artifact === undefined) {
    throw new Error("an artifact update without an artifact");
  }
  const known = findArtifact(task, artifact.artifactId);
  if (known === undefined) {
    task.artifacts.push(ownArtifact(artifact));
  } else if (append) {
    extendArtifact(changeable(task, known), artifact);
  } else {
    Object.assign(changeable(task, known), { metadata: undefined, ...ownArtifact(artifact) });
  }
}

/** The artifact itself when it belongs to the fold alone, else a copy of it, which takes its place. */
function changeable(task: Task, artifact: Artifact): Artifact {
  const { positions, shared, own } = indexArtifacts(task);
  const position = positions.get(artifact.artifactId);
  if (position === undefined || position >= shared || own.has(position)) return artifact;
  const copy = copyArtifact(artifact);
  task.artifacts[position] = copy;
  own.add(position);
  return copy;
}

function extendArtifact(known: Artifact, chunk: Artifact): void {
  for (const part of chunk.parts) {
    known.parts.push(part);
  }
  known.name ||= chunk.name;
  known.description ||= chunk.description;
  if (chunk.metadata !== undefined) {
    const before = known.metadata;
    const metadata = before === undefined || sharedMetadata.has(before) ? ownMetadata(before ?? {}) : before;
    known.metadata = metadata;
    for (const [name, value] of Object.entries(chunk.metadata)) {
      if (name === "__proto__") {
        Object.defineProperty(metadata, name, {
          value,
          enumerable: true,
          writable: true,
          configurable: true,
        });
      } else {
        setMember(metadata, name, value);
      }
    }
  }
}

/** Metadata of artifacts that more than one copy of a task has. */
const sharedMetadata = new WeakSet<JsonObject>();

/** A copy whose parts may grow. Its metadata is that of the original. */
function copyArtifact(artifact: Artifact): Artifact {
  if (artifact.metadata !== undefined) sharedMetadata.add(artifact.metadata);
  return { ...artifact, parts: [...artifact.parts] };
}

/** An artifact that may grow: it shares neither parts nor metadata with an event. */
function ownArtifact(artifact: Artifact): Artifact {
  const own = { ...artifact, parts: [...artifact.parts] };
  if (artifact.metadata !== undefined) {
    own.metadata = ownMetadata(artifact.metadata);
  }
  return own;
}

/** A copy that may grow, as the codecs make metadata: a table with a prototype, in which a key `__proto__` is an ordinary key. */
function ownMetadata(metadata: JsonObject): JsonObject {
  return Object.setPrototypeOf(mergeMembers(metadata), Object.prototype);
}

/**
 * Finds an artifact by id in constant time: a task may have thousands of artifacts, and an event must not cost more
 * then.
 */
export function findArtifact(task: Task, artifactId: string): Artifact | undefined {
  const position = indexArtifacts(task).positions.get(artifactId);
  return position === undefined ? undefined : task.artifacts[position];
}

interface FoldedArtifacts {
  /** Where each artifact is, by id. Of those that share an id, which other parties may send, it is the last. */
  readonly positions: Map<string, number>;
  /** How many artifacts are in `positions`. */
  indexed: number;
  /** The artifacts before this position may belong to others as well, except for those at `own`. */
  shared: number;
  readonly own: Set<number>;
}

const foldedArtifacts = new WeakMap<Task, FoldedArtifacts>();

function indexArtifacts(task: Task): FoldedArtifacts {
  let known = foldedArtifacts.get(task);
  if (known === undefined) {
    known = { positions: new Map(), indexed: 0, shared: task.artifacts.length, own: new Set() };
    foldedArtifacts.set(task, known);
  }
  for (; known.indexed < task.artifacts.length; known.indexed++) {
    const artifact = task.artifacts[known.indexed];
    if (artifact !== undefined) known.positions.set(artifact.artifactId, known.indexed);
  }
  return known;
}
