import { bytes, type PartDetails } from "@a2a-connect/core";
import { chunksOf, readAtMost } from "@a2a-connect/core/internal";
import type { Part } from "@a2a-connect/proto";
import { ContentTooLargeError } from "../errors.ts";

/** The content of a file. */
export type FileContent = Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** A file's name and its size limit. */
export interface FileOptions extends Pick<PartDetails, "mediaType" | "metadata"> {
  /** Default that of a `File`. */
  readonly name?: string;
  /** Largest file. Default 12 MiB: in base64 it stays below the 16 MiB that our servers take for a request. */
  readonly maxBytes?: number;
}

/** `FileOptions.maxBytes`, when it is not given. */
export const defaultMaxFileBytes: number = 12 * 1024 * 1024;

/**
 * A part with a file. A stream is read to its end, or until it is longer than allowed.
 *
 * @throws ContentTooLargeError when there is more than `maxBytes`; the error of the content
 */
export async function file(content: FileContent, options: FileOptions = {}): Promise<Part> {
  const { name = nameOf(content), maxBytes = defaultMaxFileBytes, metadata } = options;
  const mediaType = options.mediaType ?? (content instanceof Blob ? content.type : "");
  const what = name === undefined ? "the file" : `the file ${JSON.stringify(name)}`;
  return bytes(await readAll(content, maxBytes, what), {
    ...(mediaType === "" ? {} : { mediaType }),
    ...(name === undefined ? {} : { filename: name }),
    ...(metadata === undefined ? {} : { metadata }),
  });
}

function nameOf(content: FileContent): string | undefined {
  return "name" in content && typeof content.name === "string" ? content.name : undefined;
}

async function readAll(content: FileContent, maxBytes: number, what: string): Promise<Uint8Array> {
  const known =
    content instanceof Blob ? content.size : content instanceof Uint8Array ? content.byteLength : 0;
  if (known > maxBytes) {
    throw new ContentTooLargeError(what, maxBytes);
  }
  if (content instanceof Uint8Array) {
    return content;
  }
  const source = content instanceof Blob ? content.stream() : content;
  const bytes = await readAtMost("getReader" in source ? chunksOf(source) : source, maxBytes);
  if (bytes === undefined) {
    throw new ContentTooLargeError(what, maxBytes);
  }
  return bytes;
}
