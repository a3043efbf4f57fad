import { isInterrupted } from "@a2a-connect/core";
import { findArtifact } from "@a2a-connect/core/internal";
import type { Artifact, StreamResponse, Task, TaskStatus } from "@a2a-connect/proto";
import { ContentTooLargeError } from "../errors.ts";

/**
 * The weight of a followed task in memory. It grows by events, none of which is too large by itself. What the fold
 * drops, such as progress and the metadata of events, does not count.
 */
export class TaskSize {
  readonly #maxBytes: number;
  /** The artifacts that came or changed since the last whole task. */
  readonly #byArtifact = new Map<string, ArtifactSize>();
  /** All artifacts. */
  #artifacts = 0;
  /** History and all other parts. Questions count here at once, because the fold puts them into history. */
  #rest = 0;
  #status = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * @param known the task before the response, if there was one
   * @throws ContentTooLargeError when the task becomes too large
   */
  add({ payload }: StreamResponse, known?: Task): void {
    if (payload.case === "task") {
      this.#replaceAll(payload.value);
    } else if (payload.case === "statusUpdate") {
      this.#setStatus(payload.value.status);
    } else if (payload.case === "artifactUpdate" && payload.value.artifact !== undefined) {
      this.#addArtifact(payload.value.artifact, payload.value.append, known);
    }
    if (this.#artifacts + this.#rest + this.#status > this.#maxBytes) {
      throw new ContentTooLargeError("The task", this.#maxBytes);
    }
  }

  #replaceAll({ artifacts, status, ...rest }: Task): void {
    this.#byArtifact.clear();
    this.#artifacts = 0;
    this.#rest = weigh(rest);
    this.#setStatus(status);
    for (const artifact of artifacts) {
      this.#artifacts += bytesOf(artifact);
    }
  }

  #setStatus(status: TaskStatus | undefined): void {
    const isQuestion = status !== undefined && isInterrupted(status.state);
    this.#status = isQuestion ? 0 : weigh(status);
    this.#rest += isQuestion ? weigh(status) : 0;
  }

  #addArtifact(artifact: Artifact, append: boolean, task: Task | undefined): void {
    const { artifactId } = artifact;
    const before = task && findArtifact(task, artifactId);
    const known = this.#byArtifact.get(artifactId) ?? (before && sizeOf(before));
    this.#artifacts -= known?.bytes ?? 0;
    let size = known;
    if (size !== undefined && append) size.add(artifact);
    else size = sizeOf(artifact);
    this.#artifacts += size.bytes;
    this.#byArtifact.set(artifactId, size);
  }
}

function sizeOf(artifact: Artifact): ArtifactSize {
  const size = new ArtifactSize(artifact);
  size.add(artifact);
  return size;
}

/** The same without a table of the names in its metadata, of which there may be 100,000. */
function bytesOf({ parts, metadata = {}, name, description, ...rest }: Artifact): number {
  let bytes = weigh(rest) + weigh(parts) + name.length + description.length;
  for (const member in metadata) bytes += weighMember(member, metadata[member]);
  return bytes;
}

function weighMember(name: string, value: unknown): number {
  return entryBytes + nameBytes + name.length + weigh(value);
}

/** The weight of one artifact. Chunks add parts to it, and replace members of its metadata of the same name. */
class ArtifactSize {
  bytes: number;
  #name = 0;
  #description = 0;
  #metadata: Map<string, number> | undefined;

  constructor({ parts, metadata, name, description, ...rest }: Artifact) {
    this.bytes = weigh(rest);
  }

  add({ parts, metadata, name, description }: Artifact): void {
    this.bytes += weigh(parts);
    if (this.#name === 0) {
      this.#name = name.length;
      this.bytes += name.length;
    }
    if (this.#description === 0) {
      this.#description = description.length;
      this.bytes += description.length;
    }
    for (const [member, value] of Object.entries(metadata ?? {})) {
      this.#metadata ??= new Map();
      const bytes = weighMember(member, value);
      this.bytes += bytes - (this.#metadata.get(member) ?? 0);
      this.#metadata.set(member, bytes);
    }
  }
}

/** The weight of a value beside its content. */
const valueBytes = 8;

/** What a name in JSON takes besides its characters: where no other object has the same names, its place in the object and a text. */
const nameBytes = 64;

/** What it takes in the table of names of an artifact's metadata. */
const entryBytes = 64;

/**
 * The weight of a message, or of any JSON: about its size in memory, and never less than the content of its texts and
 * bytes at any depth. The cost is that of visiting every value; the recursion is as deep as the value, which parsers
 * limit.
 */
export function weigh(value: unknown): number {
  if (typeof value === "string") {
    return valueBytes + value.length;
  }
  if (typeof value !== "object" || value === null) {
    return value === undefined ? 0 : valueBytes;
  }
  if (ArrayBuffer.isView(value)) {
    return valueBytes + value.byteLength;
  }
  let bytes = valueBytes;
  if (Array.isArray(value)) {
    for (const each of value) {
      bytes += weigh(each);
    }
    return bytes;
  }
  const ofName = "$typeName" in value ? 0 : nameBytes; // all messages of a type have the same names
  for (const name in value) {
    bytes += ofName + name.length + weigh(value[name as keyof typeof value]); // own members only: messages and JSON inherit none
  }
  return bytes;
}
