import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseTranscript, type Transcript } from "@a2a-connect/consolidation/worker";

/** Where the sample transcripts are. */
export const transcriptDirectory: string = fileURLToPath(
  new URL("../../examples/consolidation/data/transcripts/", import.meta.url),
);

/** Names of their files, in order. */
const transcriptFiles: readonly string[] = readdirSync(transcriptDirectory).toSorted();

/** The sample transcripts. */
export function readTranscripts(): readonly Transcript[] {
  return transcriptFiles.map((file) =>
    parseTranscript(JSON.parse(readFileSync(`${transcriptDirectory}${file}`, "utf8")), file),
  );
}
