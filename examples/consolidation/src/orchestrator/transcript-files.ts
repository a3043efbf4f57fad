import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bytes } from "@a2a-connect/core";
import type { Part } from "@a2a-connect/proto";

/** The JSON files of a directory, by name, as the parts of a message. */
export async function readTranscriptFiles(directory: string): Promise<readonly Part[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".json")).toSorted();
  return Promise.all(
    names.map(async (filename) =>
      bytes(await readFile(join(directory, filename)), { filename, mediaType: "application/json" }),
    ),
  );
}
