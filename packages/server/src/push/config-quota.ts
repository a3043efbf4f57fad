import { a2aError } from "@a2a-connect/core";
import type { Owner, TaskStore } from "../store/task-store.ts";

/** The name of a push config. */
export interface PushConfigName {
  readonly owner: Owner;
  readonly taskId: string;
  readonly id: string;
}

/**
 * Bounds the push configs of each task. A config is counted from before it is looked for in the store until after it is
 * stored, so of requests at the same time no more get through than there is room for.
 */
export class ConfigQuota {
  readonly #store: Pick<TaskStore, "findPushConfig" | "listPushConfigs">;
  readonly #limit: number;
  /** On their way into the store. */
  readonly #reserved = new Set<PushConfigName>();

  /** @param limit configs of one task, at most */
  constructor(store: Pick<TaskStore, "findPushConfig" | "listPushConfigs">, limit: number) {
    this.#store = store;
    this.#limit = limit;
  }

  /**
   * Keeps room for a config. One that replaces another needs none, and a task that the owner does not have is left to
   * whoever stores it to refuse.
   *
   * @returns what to call when the config is stored, or will not be
   * @throws ConnectError TASK_TOO_LARGE when there is no room
   */
  async reserve(name: PushConfigName): Promise<() => void> {
    this.#reserved.add(name);
    const release = () => {
      this.#reserved.delete(name);
    };
    try {
      await this.#assertRoom(name);
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  async #assertRoom({ owner, taskId, id }: PushConfigName): Promise<void> {
    // Whoever reserves after this counts this one. So it is enough to count those that did before.
    const ids = new Set(
      [...this.#reserved].filter((other) => isOfTask(other, owner, taskId)).map((other) => other.id),
    );
    if ((await this.#store.findPushConfig(owner, taskId, id)) !== undefined) {
      return;
    }
    for (const config of (await this.#store.listPushConfigs(owner, taskId, undefined, this.#limit)) ?? []) {
      ids.add(config.id);
    }
    if (ids.size > this.#limit) {
      throw a2aError(
        "TASK_TOO_LARGE",
        `the task has ${this.#limit} push configs, and that is the limit: delete or replace one`,
        { taskId },
      );
    }
  }
}

function isOfTask(name: PushConfigName, owner: Owner, taskId: string): boolean {
  return (
    name.taskId === taskId && name.owner.tenant === owner.tenant && name.owner.principal === owner.principal
  );
}
