import { applyStep, copyTask } from "@a2a-connect/core/internal";
import { type Task, TaskState } from "@a2a-connect/proto";
import type { Snapshot } from "../store/task-store.ts";
import { type EncodedStep, encodeSnapshot } from "./log-codec.ts";
import type { LoadedTask } from "./read-task.ts";

/** Smaller tasks are read from their log alone. */
const minSnapshotBytes = 4_096;

/**
 * Knows the approximate weight of a task's fold, and by how much its log has grown. So it knows when a snapshot saves
 * half of what a load reads. A task that only grows is its log and gets no snapshot. All snapshots together are smaller
 * than the log.
 */
export class SnapshotPolicy {
  /** Weight of the fold without artifacts. */
  #headBytes = 0;
  #grownBytes = 0;

  get headBytes(): number {
    return this.#headBytes;
  }

  /** The task was read from the store. */
  load({ headBytes, grownBytes }: LoadedTask): void {
    this.#headBytes = headBytes;
    this.#grownBytes = grownBytes;
  }

  /** A step was accepted that brings the task to `state`. The message of WORKING is dropped with the next status. */
  accept({ step, kind, weight }: EncodedStep, state: TaskState): void {
    const isProgress = kind === "status" && state === TaskState.WORKING;
    if (step.case !== undefined && kind !== "artifact" && !isProgress) {
      this.#headBytes += weight;
    }
  }

  /**
   * The snapshot to write with a batch; undefined when none is due. It is made on a copy, because callers must not see
   * the batch yet.
   *
   * @param task the fold before the batch
   * @param sequence of the batch's last entry
   */
  due(
    task: Task | undefined,
    artifactBytes: number,
    batch: readonly EncodedStep[],
    sequence: number,
  ): Snapshot | undefined {
    const grown = this.#grownBytes + weigh(batch);
    if (task === undefined || grown < Math.max(2 * (this.#headBytes + artifactBytes), minSnapshotBytes)) {
      return undefined;
    }
    let fold = copyTask(task);
    for (const { step } of batch) {
      fold = step.case === undefined ? fold : applyStep(fold, step);
    }
    return encodeSnapshot(fold, sequence);
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
