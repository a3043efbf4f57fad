import {
  effectiveMediaType,
  joinBytes,
  parseMediaType,
  shownText,
  toJsonValue,
} from "@a2a-connect/core/internal";
import type { Artifact, Part } from "@a2a-connect/proto";
import { UntrustedOutputError } from "../errors.ts";
import type { SaveFile } from "../platform.ts";
import { type FetchServices, fetchFile } from "./fetch-file.ts";

/** What is needed to read an artifact. */
export interface ArtifactServices extends FetchServices {
  /** Writes files; without it `save` rejects. */
  readonly saveFile?: SaveFile | undefined;
  /** How many files each artifact of the task has become that was saved. */
  readonly filesOfTask: Map<Artifact, number>;
}

/** Most files of all artifacts of a task: without a limit an agent could fill a disk with names. */
const maxFiles = 1_000;

/**
 * Writes the parts of an artifact as files. Consecutive parts that are chunks of one file become one file: text of one
 * name and media type, and bytes of one name. A part without a name gets the artifact's name.
 *
 * @returns the paths, in the order of the parts
 * @throws the signal's reason when it aborts
 * @throws UntrustedOutputError when its files, and those of the task's other artifacts that were saved, are more than
 *   1,000; then none of its own is written
 * @throws Error when the platform has no files
 */
export async function saveParts(
  artifact: Artifact,
  directory: string,
  services: ArtifactServices,
  signal?: AbortSignal,
): Promise<string[]> {
  const { artifactId, name, parts } = artifact;
  const { saveFile, filesOfTask } = services;
  if (saveFile === undefined) {
    throw new Error("there are no files here: in Node, use connectAgent of @a2a-connect/node/client");
  }
  const files = joinChunks(parts);
  let total = files.length;
  for (const [other, count] of filesOfTask) if (other !== artifact) total += count;
  if (total > maxFiles) {
    throw new UntrustedOutputError(
      `with artifact "${shownText(name || artifactId)}", the files of its task would be ${total}, which is more than the limit of ${maxFiles}`,
      { hint: "Save fewer of its artifacts, or read their parts one by one and write those that you want." },
    );
  }
  if (files.length > 0) filesOfTask.set(artifact, files.length);
  const paths: string[] = [];
  const signals = [services.signal, signal].filter((each) => each !== undefined);
  const fetching = { ...services, signal: AbortSignal.any(signals) };
  for (const chunks of files) {
    signal?.throwIfAborted();
    const [part] = chunks;
    const filename = part.filename === "" ? `${name || artifactId}${extensionOf(part)}` : part.filename;
    paths.push(await saveFile(directory, filename, await contentOf(part, chunks, fetching)));
  }
  return paths;
}

type Chunks = [Part, ...Part[]];

function joinChunks(parts: readonly Part[]): Chunks[] {
  const files: Chunks[] = [];
  for (const part of parts) {
    const last = files.at(-1);
    if (last !== undefined && isSameFile(last[0], part)) last.push(part);
    else files.push([part]);
  }
  return files;
}

function isSameFile(first: Part, second: Part): boolean {
  if (first.filename !== second.filename || first.content.case !== second.content.case) {
    return false;
  }
  switch (first.content.case) {
    case "text":
      return effectiveMediaType(first) === effectiveMediaType(second);
    case "raw":
      return first.filename !== "";
    default:
      return false;
  }
}

async function contentOf(
  { content }: Part,
  chunks: Chunks,
  services: FetchServices,
): Promise<AsyncIterable<Uint8Array> | Uint8Array> {
  switch (content.case) {
    case "data":
      return encoder.encode(`${JSON.stringify(toJsonValue(content.value), undefined, 2)}\n`);
    case "url":
      return fetchFile(content.value, services);
    default:
      return joinBytes(chunks.map(bytesOf));
  }
}

function bytesOf({ content }: Part): Uint8Array {
  switch (content.case) {
    case "raw":
      return content.value;
    case "text":
      return encoder.encode(content.value);
    default:
      return new Uint8Array();
  }
}

const encoder = new TextEncoder();

/** Extensions for common media types; other types get none. */
const extensions: Readonly<Record<string, string>> = {
  "text/plain": ".txt",
  "text/markdown": ".md",
  "text/html": ".html",
  "text/csv": ".csv",
  "application/json": ".json",
  "application/pdf": ".pdf",
  "application/zip": ".zip",
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "image/gif": ".gif",
  "image/webp": ".webp",
  "image/svg+xml": ".svg",
};

function extensionOf(part: Part): string {
  const type = parseMediaType(effectiveMediaType(part));
  return (type && extensions[`${type.type}/${type.subtype}`]) ?? "";
}
