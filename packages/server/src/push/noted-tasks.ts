import type { DueTask } from "../engine/engine-context.ts";

/** How many are remembered. */
const maxNoted = 1_024;

/** Tasks with an event that no look has considered. Callers take turns, and none puts the tasks of others out. */
export class NotedTasks {
  /** By caller, whose turn is next first; then by id, the newest last. */
  readonly #byCaller = new Map<string | undefined, Map<string, DueTask>>();
  /** No two owners have a task of the same id; its events and its webhooks may be of two callers. */
  readonly #byId = new Map<string, DueTask>();

  /** The task has another event. Where too many are noted, the oldest of the caller with the most of them is forgotten. */
  add(task: DueTask): void {
    this.#delete(task.taskId);
    const others = this.#byCaller.get(task.share) ?? new Map<string, DueTask>();
    this.#byCaller.set(task.share, others.set(task.taskId, task));
    this.#byId.set(task.taskId, task);
    if (this.#byId.size > maxNoted) {
      const [most = others] = [...this.#byCaller.values()].sort((one, other) => other.size - one.size);
      const [oldest] = most.keys();
      if (oldest !== undefined) this.#delete(oldest);
    }
  }

  /** Takes up to `max` of them, the newest of each caller in turn. @param isBusy those stay */
  take(max: number, isBusy: (task: DueTask) => boolean): readonly DueTask[] {
    const taken: DueTask[] = [];
    let passed = 0;
    while (taken.length < max && passed < this.#byCaller.size) {
      const [[share, tasks] = []] = this.#byCaller;
      if (tasks === undefined) break;
      this.#byCaller.delete(share);
      this.#byCaller.set(share, tasks); // behind the others
      const newest = [...tasks.values()].findLast((task) => !isBusy(task));
      passed = newest === undefined ? passed + 1 : 0;
      if (newest !== undefined) {
        this.#delete(newest.taskId);
        taken.push(newest);
      }
    }
    return taken;
  }

  clear(): void {
    this.#byCaller.clear();
    this.#byId.clear();
  }

  #delete(taskId: string): void {
    const noted = this.#byId.get(taskId);
    if (noted === undefined) return;
    this.#byId.delete(taskId);
    const others = this.#byCaller.get(noted.share);
    others?.delete(taskId);
    if (others?.size === 0) this.#byCaller.delete(noted.share);
  }
}
