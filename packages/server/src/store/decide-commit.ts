import type { CommitResult, LogTail, Owner, TaskCommit } from "./task-store.ts";

/** What a store knows of a task when a commit to it arrives. */
export interface CommitTarget {
  readonly owner: Owner;
  readonly tail: LogTail;
  readonly fence: number;
  /** Whether webhooks get the task's events. */
  readonly hasPushConfigs: boolean;
}

const noLog: LogTail = { sequence: 0, generation: 0 };

/**
 * Decides a commit, by the rules that all stores share. `target` is what is stored under the commit's task id, for any
 * owner. A task of another owner is refused like a missing one, as a conflict with an empty log (spec §3.3.2). The
 * fence is tested first: a process that lost its claim learns that, and not that the log has grown. Keys are tested
 * last, so that `duplicate` means that nothing else is wrong.
 *
 * @param isTaken whether the commit's owner has a request under this idempotency key; called for the commit's own keys
 *   only
 * @returns the answer of `TaskStore.commit`; without `refused`, the store still has to write the commit
 * @throws RangeError when the entries do not continue the log: a defect of the writer, never of its timing
 */
export function decideCommit(
  commit: TaskCommit,
  target: CommitTarget | undefined,
  isTaken: (key: string) => boolean,
): CommitResult {
  const creates = commit.expectedSequence === 0;
  if (target !== undefined && !isSameOwner(target.owner, commit.owner))
    return { refused: "conflict", tail: noLog };
  if (target === undefined && !creates) return { refused: "conflict", tail: noLog };
  if (target !== undefined && !creates && target.fence !== commit.fence)
    return { refused: "fenced", tail: target.tail };
  const end = target?.tail ?? noLog;
  if (end.sequence !== commit.expectedSequence) return { refused: "conflict", tail: end };
  const tail = advanceTail(end, commit);
  if (hasDuplicate(commit, isTaken)) return { refused: "duplicate", tail: end };
  const hasPushConfigs = commit.pushConfigs.length > 0 || target?.hasPushConfigs === true;
  return { tail, deliveryDue: hasPushConfigs && tail.generation > end.generation };
}

/** Whether two owners are the same caller under the same tenant. */
export function isSameOwner(one: Owner, other: Owner): boolean {
  return one.tenant === other.tenant && one.principal === other.principal;
}

/** When two messages of one commit have the same key, the first of them takes it. */
function hasDuplicate({ keys }: TaskCommit, isTaken: (key: string) => boolean): boolean {
  return (
    keys.length > 0 &&
    (new Set(keys.map(({ key }) => key)).size < keys.length || keys.some(({ key }) => isTaken(key)))
  );
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
