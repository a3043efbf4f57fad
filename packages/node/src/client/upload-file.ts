import { open } from "node:fs/promises";
import { basename } from "node:path";
import { file } from "@a2a-connect/client";
import type { FileOptions } from "@a2a-connect/client/internal";
import type { Part } from "@a2a-connect/proto";
import { mediaTypeOf } from "./media-type-of.ts";

/**
 * A part with a file of this machine. The file is read as a stream, and no further than the limit.
 *
 * The media type follows from the file's name unless `mediaType` is given; the part's name is the file's without its
 * directories.
 *
 * @throws ContentTooLargeError when it is larger than `maxBytes` (default 12 MiB); the system's error when it cannot be
 *   read
 */
export async function uploadFile(path: string, options: FileOptions = {}): Promise<Part> {
  await using handle = await open(path, "r");
  const stats = await handle.stat();
  if (stats.isDirectory()) {
    throw Object.assign(new Error(`${path} is a directory`), { code: "EISDIR" });
  }
  const { name = basename(path), mediaType = mediaTypeOf(path), ...others } = options;
  const content = handle.createReadStream({ autoClose: false });
  return await file(content, { ...others, name, mediaType });
}
