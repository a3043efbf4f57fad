import { appendFileSync } from "node:fs";
import type { WorkerParts } from "./worker-agent.ts";

/**
 * The same parts, writing a line into a file for each thing they do to the world: `extract TRANSCRIPT` and
 * `save TASK`. So that it can be seen what is done once.
 */
export function recordSideEffects(parts: WorkerParts, file: string): WorkerParts {
  const record = (line: string) => appendFileSync(file, `${line}\n`);
  const { extractor, memories } = parts;
  return {
    ...parts,
    extractor: {
      extract(transcript, signal) {
        record(`extract ${transcript.id}`);
        return extractor.extract(transcript, signal);
      },
    },
    memories: {
      ...memories,
      save(taskId, added) {
        record(`save ${taskId}`);
        memories.save(taskId, added);
      },
    },
  };
}
