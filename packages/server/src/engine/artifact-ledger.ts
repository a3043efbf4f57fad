import { lifecycleExtension } from "@a2a-connect/core";
import type { TaskArtifactUpdateEvent } from "@a2a-connect/proto";
import { AgentMistake } from "./agent-mistake.ts";
import type { LoadedTask } from "./read-task.ts";

interface Line {
  bytes: number;
  sealed: boolean;
}

/**
 * The weight of a task's artifacts, and which are sealed, for everything accepted: it decides without reading the fold.
 */
export class ArtifactLedger {
  readonly #maxBytes: number;
  readonly #lines = new Map<string, Line>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What all artifacts weigh. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Starts from a task that was read. */
  load({ task, artifactBytes }: LoadedTask): void {
    this.#lines.clear();
    this.#bytes = 0;
    for (const { artifactId, metadata } of task.artifacts) {
      const bytes = artifactBytes.get(artifactId) ?? 0;
      this.#lines.set(artifactId, { bytes, sealed: isSealed(metadata?.[lifecycleExtension]) });
      this.#bytes += bytes;
    }
  }

  /** Unseals the artifacts. */
  unseal(): void {
    for (const line of this.#lines.values()) {
      line.sealed = false;
    }
  }

  /**
   * Records an update of `bytes`.
   *
   * @throws AgentMistake when the artifact is sealed, or all of them together would be over the limit
   */
  admit({ artifact, append, lastChunk }: TaskArtifactUpdateEvent, bytes: number, replaceable: boolean): void {
    const id = artifact?.artifactId ?? "";
    const line = this.#lines.get(id);
    if (line?.sealed === true) {
      throw new AgentMistake(`artifact "${id}" is sealed by its last chunk and cannot be changed`);
    }
    const grown = append ? bytes : bytes - (line?.bytes ?? 0);
    if (this.#bytes + grown > this.#maxBytes) {
      throw new AgentMistake(`the task's artifacts would exceed ${this.#maxBytes} bytes`, "task-too-large");
    }
    this.#bytes += grown;
    this.#lines.set(id, { bytes: (line?.bytes ?? 0) + grown, sealed: lastChunk && !replaceable });
  }
}

function isSealed(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "sha256" in value &&
    !("replaceable" in value && value.replaceable === true)
  );
}
