import type { TaskStore } from "@a2a-connect/server";
import { type CommitResult, storedBytes, type TaskCommit } from "@a2a-connect/server/store";
import { type GroupCommit, largeWriteBytes } from "./group-commit.ts";
import {
  chooseLarge,
  type LargeValues,
  maxCommitBytes,
  pieceBytes,
  type Run,
  type WrittenValues,
} from "./large-values.ts";
import type { ListTotals } from "./list-totals.ts";
import { type EncodedConfig, encodeConfig } from "./push-deliveries.ts";
import { type LostRun, runsOf, type TaskWriter } from "./task-writer.ts";

/** The parts of the store that a commit changes. */
interface CommitParts {
  readonly writer: TaskWriter;
  readonly values: LargeValues;
  readonly totals: ListTotals;
}

/**
 * Makes `TaskStore.commit`. Small commits are one write. The large values of a commit are written before it, piece by piece, one
 * turn of the event loop for each.
 */
export function createCommits(
  writes: GroupCommit,
  { writer, values, totals }: CommitParts,
): TaskStore["commit"] {
  /** Large commits that are not finished, by the id of their task: small writes may overtake them. */
  const underWay = new Map<string, Promise<unknown>>();

  return commitInOrder;

  async function commitInOrder(commit: TaskCommit): Promise<CommitResult> {
    const { taskId } = commit;
    for (let before = underWay.get(taskId); before !== undefined; before = underWay.get(taskId)) {
      await before; // commits to one task keep their order
    }
    const configs = commit.pushConfigs.map(encodeConfig);
    const bytes = storedBytes(commit) + bytesBeside(commit, configs);
    if (bytes < largeWriteBytes) return await commitRows(commit, configs, bytes);
    const committed = commitLarge(commit, configs, bytes);
    const over = committed.catch(() => {}).finally(() => underWay.delete(taskId));
    underWay.set(taskId, over);
    return committed;
  }

  /**
   * Writes the rows of a commit, in the next transaction: all that most commits need.
   *
   * @param bytes of the values that are still to be written
   * @param written the values that are in pieces already; undefined: none
   */
  async function commitRows(
    commit: TaskCommit,
    configs: readonly EncodedConfig[],
    bytes: number,
    written?: WrittenValues,
  ): Promise<CommitResult> {
    const { share } = commit;
    const { result } = await writes.run({
      bytes,
      share,
      write: () => writer.commit(commit, configs, written),
      afterCommit({ listChange, lost }) {
        if (listChange !== undefined) totals.apply(listChange);
        removeLost(lost, share);
      },
    });
    return result;
  }

  async function commitLarge(
    commit: TaskCommit,
    configs: readonly EncodedConfig[],
    bytes: number,
  ): Promise<CommitResult> {
    const large = bytes > maxCommitBytes ? chooseLarge(commit) : [];
    if (large.length === 0) return await commitRows(commit, configs, bytes);
    const { share } = commit;
    const task = await writes.run({ share, write: () => writer.reserve(commit.taskId) });
    const runs = new Map<Uint8Array, Run>();
    let left = bytes;
    try {
      for (const value of large) {
        for (let at = 0; at < value.length; at += pieceBytes) {
          const piece = value.subarray(at, at + pieceBytes);
          const begun = runs.get(value)?.run;
          const run = await writes.run({
            bytes: piece.length,
            share,
            write: () => values.append(task, begun, piece),
          });
          runs.set(value, { run, bytes: value.length });
        }
        left -= value.length;
      }
      return await commitRows(commit, configs, left, { task, runs });
    } catch (error) {
      removeLost(runsOf({ task, runs }), share);
      throw error;
    }
  }

  /** No caller awaits this removal. If it fails, the store removes the pieces when it opens the file again. */
  function removeLost(lost: readonly LostRun[], share: string | undefined): void {
    for (const run of lost) removeRun(run, share).catch(() => {});
  }

  async function removeRun({ task, run }: LostRun, share: string | undefined): Promise<void> {
    const write = () => values.remove(task, run, 1);
    while ((await writes.run({ bytes: pieceBytes, share, removes: true, write })) > 0);
  }
}

/** What a commit stores besides its log, in bytes. A key lies in its row and in an index, both times with its owner. */
function bytesBeside({ owner, keys }: TaskCommit, configs: readonly EncodedConfig[]): number {
  const { tenant, principal } = owner;
  let bytes = 0;
  for (const { key } of keys) bytes += 2 * (tenant.length + principal.length + key.length);
  for (const config of configs) bytes += config.bytes.byteLength;
  return bytes;
}
