import type { CommitResult, LogTail, Owner, TaskCommit } from "./task-store.ts";

/** What a store knows of a task when a commit to it arrives. */
export interface CommitTarget {
  readonly owner: Owner;
  readonly tail: LogTail;
  readonly fence: number;
}

const noLog: LogTail = { sequence: 0, generation: 0 };

/**
 * Decides a commit: the rules that all stores share. `target` is what is stored under the commit's task id, whoever
 * owns it. A foreign task is refused like a missing one, as a conflict with a log that is not there (spec §3.3.2).
 * The fence is looked at first: a holder that was overtaken learns that, and not that the log has grown.
 *
 * @returns what `TaskStore.commit` answers; with a `tail`, the store still has to write the commit
 * @throws RangeError when the entries do not continue the log: a defect of the writer, never of its timing
 */
export function decideCommit(commit: TaskCommit, target: CommitTarget | undefined): CommitResult {
  const creates = commit.expectedSequence === 0;
  if (target !== undefined && !isSameOwner(target.owner, commit.owner))
    return { refused: "conflict", tail: noLog };
  if (target === undefined)
    return creates ? { tail: advanceTail(noLog, commit) } : { refused: "conflict", tail: noLog };
  if (!creates && target.fence !== commit.fence) return { refused: "fenced", tail: target.tail };
  if (target.tail.sequence !== commit.expectedSequence) return { refused: "conflict", tail: target.tail };
  return { tail: advanceTail(target.tail, commit) };
}

/** Whether two owners are the same caller under the same tenant. */
export function isSameOwner(one: Owner, other: Owner): boolean {
  return one.tenant === other.tenant && one.principal === other.principal;
}

function advanceTail({ sequence, generation }: LogTail, { entries, snapshot }: TaskCommit): LogTail {
  if (entries.length === 0) throw new RangeError("a commit has at least one entry");
  for (const entry of entries) {
    const isEvent = entry.kind === "task" || entry.kind === "status" || entry.kind === "artifact";
    sequence += 1;
    if (isEvent) generation += 1;
    if (entry.sequence !== sequence || entry.generation !== (isEvent ? generation : undefined)) {
      throw new RangeError(
        `entry ${entry.sequence} (${entry.kind}) does not continue the log at ${sequence}`,
      );
    }
  }
  if (snapshot !== undefined && snapshot.sequence !== sequence) {
    throw new RangeError(`a snapshot at ${snapshot.sequence} does not cover the log up to ${sequence}`);
  }
  return { sequence, generation };
}
