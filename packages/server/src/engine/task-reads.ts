import { RecentMap } from "@a2a-connect/core/internal";
import type { Task } from "@a2a-connect/proto";
import type { TaskStore, TaskView } from "../store/task-store.ts";
import type { Caller } from "./live-tasks.ts";
import { type CountBytes, readTask, type TaskSource, taskNotFound } from "./read-task.ts";
import type { SeenTask } from "./task-handle.ts";

/** What tasks are read from, in turns of the caller of this name (`nextSlice`). */
export type SourceFor = (share: string | undefined) => TaskSource;

/** Size in memory from which a task that was read is given to further callers, in bytes. */
const minSharedBytes = 256 * 1024;

/** Tasks of which is known whether a caller still has them. */
const maxShared = 100;

interface SharedTask {
  readonly sequence: number;
  readonly bytes: number;
  readonly task: WeakRef<Task>;
}

/**
 * Reads single tasks that are not in memory. A large task that a caller still has, because its answer is being written, is given
 * to the next caller as it is: hundreds may ask for the same one, and each would read and decode megabytes.
 */
export class TaskReads {
  readonly #sourceFor: SourceFor;
  readonly #store: Pick<TaskStore, "find" | "weigh">;
  /** By view and id. */
  readonly #shared = new RecentMap<string, SharedTask>(maxShared);

  constructor(sourceFor: SourceFor, store: Pick<TaskStore, "find" | "weigh">) {
    this.#sourceFor = sourceFor;
    this.#store = store;
  }

  /**
   * The owner's task, with at least what the view has.
   *
   * @param count gets the number of bytes that the task takes in memory, also of one that is shared; may throw
   * @throws ConnectError TASK_NOT_FOUND
   */
  async read(
    { owner, share }: Pick<Caller, "owner" | "share">,
    taskId: string,
    view: TaskView,
    count: CountBytes,
  ): Promise<SeenTask> {
    const key = `${view} ${taskId}`;
    const shared = this.#shared.get(key);
    const known = shared?.task.deref();
    if (shared !== undefined && known !== undefined) {
      const { tail } = (await this.#store.weigh(owner, taskId)) ?? {};
      if (tail?.sequence === shared.sequence) {
        count(shared.bytes);
        return { task: known, generation: tail.generation };
      }
    }
    const stored = await this.#store.find(owner, taskId, view);
    if (stored === undefined) throw taskNotFound(taskId);
    let bytes = 0;
    const { task } = await readTask(this.#sourceFor(share), stored, view, (more) => {
      bytes += more;
      count(more);
    });
    const { sequence, generation } = stored.tail;
    if (bytes >= minSharedBytes) this.#shared.set(key, { sequence, bytes, task: new WeakRef(task) });
    return { task, generation };
  }
}
