import { nextSlice } from "@a2a-connect/bindings/server";
import { lifecycleExtension } from "@a2a-connect/core";
import { applyStep, encodeInSteps, encodeMessage, joinBytes, shareTask } from "@a2a-connect/core/internal";
import {
  type Artifact,
  type Task,
  type TaskArtifactUpdateEvent,
  TaskSchema,
  TaskState,
} from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { Snapshot } from "../store/task-store.ts";
import { AgentMistake } from "./agent-mistake.ts";
import { objectBytes } from "./memory-weight.ts";
import type { LoadedTask } from "./read-task.ts";
import type { EncodedStep } from "./task-log.ts";

/** Smaller tasks are read from their log alone. */
const minSnapshotBytes = 8_192;

/** Larger ones are encoded in slices. Of those up to this, 512 may be due in one turn of the event loop, and take some 40 ms. */
const slowBytes = 16 * 1024;

/**
 * Knows the approximate weight of a task's fold, and by how much its log has grown. So it knows when a snapshot saves
 * half of what a load reads. A task that only grows is its log and gets no snapshot. All snapshots together are smaller
 * than the log.
 */
export class SnapshotPolicy {
  /** Weight of the fold without artifacts. */
  #headBytes = 0;
  #progressBytes = 0;
  #grownBytes = 0;

  get headBytes(): number {
    return this.#headBytes;
  }

  /** What the message of the last WORKING takes in memory. */
  get progressBytes(): number {
    return this.#progressBytes;
  }

  /** The task was read from the store. */
  load({ headBytes, grownBytes }: LoadedTask): void {
    this.#headBytes = headBytes;
    this.#grownBytes = grownBytes;
  }

  /** A step was accepted that brings the task to `state`. The message of WORKING is dropped with the next status. */
  accept({ step, kind, weight }: EncodedStep, state: TaskState): void {
    const isProgress = kind === "status" && state === TaskState.WORKING;
    if (kind === "status") this.#progressBytes = isProgress ? weight : 0;
    if (step.case !== undefined && kind !== "artifact" && !isProgress) this.#headBytes += weight;
  }

  /**
   * The snapshot to write with a batch; undefined when none is due. It is made on a copy, because callers must not see
   * the batch yet.
   *
   * @param task the fold before the batch
   * @param sequence of the batch's last entry
   * @param share the caller whose task it is
   */
  due(
    task: Task | undefined,
    artifactBytes: number,
    batch: readonly EncodedStep[],
    { sequence, share }: { readonly sequence: number; readonly share: string | undefined },
  ): Promise<Snapshot> | undefined {
    const grown = this.#grownBytes + weigh(batch);
    const bytes = this.#headBytes + this.#progressBytes + artifactBytes;
    if (task === undefined || grown < Math.max(2 * bytes, minSnapshotBytes)) {
      return undefined;
    }
    let fold = shareTask(task);
    for (const { step } of batch) {
      fold = step.case === undefined ? fold : applyStep(fold, step);
    }
    return bytes > slowBytes
      ? encodeInSlices(fold, sequence, share)
      : Promise.resolve(encodeSnapshot(fold, sequence));
  }

  /** A batch was stored, with a snapshot or without. */
  stored(batch: readonly EncodedStep[], withSnapshot: boolean): void {
    this.#grownBytes = withSnapshot ? 0 : this.#grownBytes + weigh(batch);
  }
}

/** Weight of what a load must read of a batch: all but the engine's own notes. */
function weigh(batch: readonly EncodedStep[]): number {
  return batch.reduce((sum, { step, weight }) => sum + (step.case === undefined ? 0 : weight), 0);
}

/** The fold in two halves. To join their bytes merges them again, by protobuf's rules. */
export function encodeSnapshot(task: Task, sequence: number): Snapshot {
  const [head, artifacts] = halves(task);
  return {
    sequence,
    head: encodeMessage(TaskSchema, head),
    artifacts: encodeMessage(TaskSchema, artifacts),
  };
}

function halves(task: Task): [head: Task, artifacts: Task] {
  return [{ ...task, artifacts: [] }, create(TaskSchema, { artifacts: task.artifacts })];
}

/** How long a slice takes, in milliseconds: other calls wait for no more than that. */
const sliceMs = 4;

/** The same of a large task, in slices: many tasks may be due at the same moment. */
async function encodeInSlices(task: Task, sequence: number, share: string | undefined): Promise<Snapshot> {
  const [head, artifacts] = halves(task);
  await nextSlice(share, "commit");
  let beganAt = performance.now();
  return { sequence, head: await encode(head), artifacts: await encode(artifacts) };

  async function encode(half: Task): Promise<Uint8Array> {
    const steps = encodeInSteps(TaskSchema, half);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return joinBytes(step.value);
      if (performance.now() - beganAt < sliceMs) continue;
      await nextSlice(share, "commit");
      beganAt = performance.now();
    }
  }
}

/** What an artifact takes in memory besides its bytes: the fold, its index and the ledger keep objects of it. */
const artifactWeight = 8 * objectBytes;

interface Line {
  bytes: number;
  /** By its last chunk, after which it may be replaced or extended only where its executor has said so; undefined: not sealed. */
  seal: "final" | "replaceable" | undefined;
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

  /** What they take in memory: with many small ones much more than in the log. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Starts from the artifacts of a task that was read. @param artifactBytes the weight of each, by id */
  load(artifacts: readonly Artifact[], artifactBytes: ReadonlyMap<string, number>): void {
    this.#lines.clear();
    this.#bytes = 0;
    for (const { artifactId, metadata } of artifacts) {
      const bytes = artifactWeight + (artifactBytes.get(artifactId) ?? 0);
      this.#lines.set(artifactId, { bytes, seal: readSeal(metadata?.[lifecycleExtension]) });
      this.#bytes += bytes;
    }
  }

  /** All artifacts may be replaced. */
  unseal(): void {
    for (const line of this.#lines.values()) {
      if (line.seal !== undefined) line.seal = "replaceable";
    }
  }

  /** Whether an artifact was sealed, and not replaced since. */
  wasSealed(artifactId: string): boolean {
    return this.#lines.get(artifactId)?.seal !== undefined;
  }

  /**
   * Records an update of `bytes`.
   *
   * @throws AgentMistake when the artifact is sealed, or all of them together would be over the limit
   */
  admit({ artifact, append, lastChunk }: TaskArtifactUpdateEvent, bytes: number, replaceable: boolean): void {
    const id = artifact?.artifactId ?? "";
    const line = this.#lines.get(id);
    if (line?.seal === "final") {
      throw new AgentMistake(`artifact "${id}" is sealed by its last chunk and cannot be changed`);
    }
    const before = line?.bytes ?? 0;
    const after = bytes + (append && line !== undefined ? before : artifactWeight);
    if (this.#bytes - before + after > this.#maxBytes) {
      throw new AgentMistake(`the task's artifacts would exceed ${this.#maxBytes} bytes`, "task-too-large");
    }
    this.#bytes += after - before;
    const earlier = append ? line?.seal : undefined;
    this.#lines.set(id, {
      bytes: after,
      seal: lastChunk ? (replaceable ? "replaceable" : "final") : earlier,
    });
  }
}

function readSeal(value: unknown): Line["seal"] {
  if (typeof value !== "object" || value === null || !("sha256" in value)) return undefined;
  return "replaceable" in value && value.replaceable === true ? "replaceable" : "final";
}
