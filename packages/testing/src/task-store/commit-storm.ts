import type { TaskStore } from "@a2a-connect/server";
import type { LogTail } from "@a2a-connect/server/store";
import { alice, createCommit, createPushConfig } from "../task-commit.ts";

/** Writers at once: enough for groups of commits. */
const writers = 16;

/** Commits to one task before its writer goes on to the next. */
const commitsPerTask = 40;

/**
 * Writes to a store until the test kills the process: many tasks at once, each growing by chunks and questions, with
 * snapshots, push configs and keys.
 *
 * @param round prefix of the task ids, so that storms over one store have different tasks
 * @param acknowledge gets one line for each commit that the store has acknowledged; `findLosses` reads them
 */
export async function commitStorm(
  store: TaskStore,
  round: string,
  acknowledge: (line: string) => void,
): Promise<never> {
  const storms = Array.from({ length: writers }, (_, writer) =>
    writeForever(store, `${round}-${writer}`, acknowledge),
  );
  return Promise.race(storms);
}

async function writeForever(
  store: TaskStore,
  prefix: string,
  acknowledge: (line: string) => void,
): Promise<never> {
  for (let task = 0; ; task += 1) {
    const taskId = `${prefix}-${task}`;
    let after = { tail: { sequence: 0, generation: 0 }, fence: 1 };
    for (let count = 0; count < commitsPerTask; count += 1) {
      const result = await store.commit(stormCommit(taskId, after.tail));
      if ("refused" in result) throw new Error(`the commit to ${taskId} was ${result.refused}`);
      after = { ...after, tail: result.tail };
      acknowledge(`${taskId} ${result.tail.sequence}`);
    }
  }
}

/**
 * The commit that a storm makes at this end of a log. It is a function of the end, so that stored commits can be
 * compared with it.
 */
function stormCommit(taskId: string, tail: LogTail): ReturnType<typeof createCommit> {
  const { sequence } = tail;
  const config = createPushConfig(taskId, `config-${sequence}`);
  const key = { key: `${taskId} ${sequence}`, fingerprint: new Uint8Array([1]), generation: tail.generation };
  return createCommit({
    taskId,
    after: { tail, fence: 1 },
    kinds: sequence === 0 ? ["task", "input"] : sequence % 3 === 0 ? ["input", "status"] : ["artifact"],
    at: sequence,
    text: `${taskId} ${sequence} ${"x".repeat(200)}`,
    snapshot: sequence % 20 === 11,
    pushConfigs: sequence % 10 < 2 ? [config] : [],
    keys: sequence % 10 < 3 ? [key] : [],
  });
}

/**
 * Reads what storms have written.
 *
 * @param lines all acknowledgements; a last line without its end does not count
 * @returns one sentence for each acknowledged commit that is missing, changed or incomplete; empty when there is none
 */
export async function findLosses(store: TaskStore, lines: readonly string[]): Promise<readonly string[]> {
  const ends = new Map<string, number>();
  for (const line of lines) {
    const [taskId = "", sequence = ""] = line.split(" ");
    ends.set(taskId, Math.max(ends.get(taskId) ?? 0, Number(sequence)));
  }
  const losses: string[] = [];
  for (const [taskId, acknowledged] of ends) {
    const loss = await findLoss(store, taskId, acknowledged);
    if (loss !== undefined) losses.push(`${taskId}: ${loss}`);
  }
  return losses;
}

/** Repeats the storm's commits to one task up to the stored end, and compares. */
async function findLoss(store: TaskStore, taskId: string, acknowledged: number): Promise<string | undefined> {
  const stored = await store.find(alice, taskId, "full");
  if (stored === undefined) return "the task is missing";
  if (stored.tail.sequence < acknowledged)
    return `entry ${acknowledged} is missing, the log ends at ${stored.tail.sequence}`;
  const log = await store.entries(alice, taskId, { sequence: 0, generation: 0 }, "all", 10_000);
  const entries = new Map(log.entries.map((entry) => [entry.sequence, entry]));
  const folded = stored.snapshot?.sequence ?? 0;
  for (let tail: LogTail = { sequence: 0, generation: 0 }; tail.sequence < stored.tail.sequence; ) {
    const commit = stormCommit(taskId, tail);
    for (const { sequence, generation, kind, payload } of commit.entries) {
      const found = entries.get(sequence);
      if (found === undefined) return `entry ${sequence} is missing`;
      if (found.kind !== kind || Buffer.compare(found.payload, payload) !== 0) {
        return `entry ${sequence} has changed`;
      }
      tail = { sequence, generation: generation ?? tail.generation };
    }
    for (const { id } of commit.pushConfigs) {
      if ((await store.findPushConfig(alice, taskId, id)) === undefined)
        return `push config ${id} is missing`;
    }
    for (const { key } of commit.keys) {
      if ((await store.findKey(alice, key)) === undefined) return `key ${key} is missing`;
    }
    if (commit.snapshot !== undefined && folded < commit.snapshot.sequence) {
      return `the snapshot at ${commit.snapshot.sequence} is missing`;
    }
  }
  return undefined;
}
