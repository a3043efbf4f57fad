import { a2aError } from "@a2a-connect/core";
import type { Owner, TaskStore } from "../store/task-store.ts";

/** The name of a push config. */
export interface PushConfigName {
  readonly owner: Owner;
  readonly taskId: string;
  readonly id: string;
}

/**
 * Limits the push configs of each task. A config counts from before it is looked for in the store until after it is
 * stored. So of requests at the same time no more pass than there is room for.
 */
export class ConfigQuota {
  readonly #store: Pick<TaskStore, "pushConfigIds">;
  readonly #limit: number;
  /** Configs that are being stored, by their tasks. */
  readonly #reserved = new Map<string, Set<PushConfigName>>();

  /** @param limit configs of one task, at most */
  constructor(store: Pick<TaskStore, "pushConfigIds">, limit: number) {
    this.#store = store;
    this.#limit = limit;
  }

  /**
   * Reserves room for a config. A config that replaces another needs none. When the owner has no such task, the code
   * that stores the config refuses it.
   *
   * @returns call it when the config is stored, or will not be
   * @throws ConnectError TASK_TOO_LARGE when there is no room
   */
  async reserve(name: PushConfigName): Promise<() => void> {
    const task = JSON.stringify([name.owner.tenant, name.owner.principal, name.taskId]);
    const reserved = this.#reserved.get(task) ?? new Set();
    this.#reserved.set(task, reserved.add(name));
    const release = () => {
      if (reserved.delete(name) && reserved.size === 0) this.#reserved.delete(task);
    };
    try {
      await this.#assertRoom(name, reserved);
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  async #assertRoom(
    { owner, taskId, id }: PushConfigName,
    reserved: ReadonlySet<PushConfigName>,
  ): Promise<void> {
    // Later reservations count this one. So this one needs to count only the earlier ones.
    const ids = new Set([...reserved].map((other) => other.id));
    const stored = (await this.#store.pushConfigIds(owner, taskId, this.#limit)) ?? [];
    if (!stored.includes(id) && new Set([...ids, ...stored]).size > this.#limit) {
      throw a2aError(
        "TASK_TOO_LARGE",
        `the task has ${this.#limit} push configs, and that is the limit: delete or replace one`,
        { taskId },
      );
    }
  }
}
