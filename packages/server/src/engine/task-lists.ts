import { findA2AError } from "@a2a-connect/core";
import { RecentMap, scaleToHeap } from "@a2a-connect/core/internal";
import { TaskSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import type { LogTail, StoredTask, TaskPage, TaskQuery, TaskStore, TaskView } from "../store/task-store.ts";
import type { EngineContext } from "./engine-context.ts";
import { weighMessage } from "./memory-weight.ts";
import { type CountBytes, DecodingTurns, type LoadedTask, readTask } from "./read-task.ts";
import type { SeenTask } from "./task-handle.ts";
import type { SourceFor } from "./task-reads.ts";

/** A page of tasks as the store has it, and as callers may see it. */
export interface ListedTasks {
  readonly tasks: readonly SeenTask[];
  readonly page: TaskPage;
}

/** Tasks that are kept for all agents of the process together, each of at most this weight. */
export const maxKeptTasks: number = Math.max(500, scaleToHeap(2_000));
const maxKeptBytes = 8 * 1024;

interface KeptTask {
  readonly sequence: number;
  readonly seen: SeenTask;
}

/** By the lists of an agent, the view and the id. */
const keptTasks = new RecentMap<string, KeptTask>(maxKeptTasks);

let agents = 0;

/**
 * Reads pages of tasks. It keeps the small tasks that it has read last: callers ask for the newest page again and again, and most
 * tasks in it are as they were. A kept task is the same object each time, so it is also encoded once.
 */
export class TaskLists {
  readonly #store: Pick<TaskStore, "list">;
  readonly #sourceFor: SourceFor;
  readonly #log: EngineContext["log"];
  readonly #agent: number;

  constructor({ store, log }: Pick<EngineContext, "store" | "log">, sourceFor: SourceFor) {
    agents += 1;
    this.#agent = agents;
    this.#store = store;
    this.#log = log;
    this.#sourceFor = sourceFor;
  }

  /**
   * @param share who asks
   * @param count gets the number of bytes that a task takes in memory; may throw
   */
  async page(
    query: Omit<TaskQuery, "isKnown">,
    share: string | undefined,
    count: CountBytes,
  ): Promise<ListedTasks> {
    const known = new Map<string, KeptTask>(); // a list that runs meanwhile may put others in their place
    const isKnown = (taskId: string, { sequence }: LogTail): boolean => {
      const kept = keptTasks.get(this.#keyOf(taskId, query.view));
      if (kept?.sequence !== sequence) return false;
      known.set(taskId, kept);
      return true;
    };
    const page = await this.#store.list({ ...query, isKnown });
    const tasks: SeenTask[] = [];
    const source = this.#sourceFor(share);
    const turns = new DecodingTurns(source.clock);
    for (const stored of page.tasks) {
      try {
        const kept = known.get(stored.taskId);
        const isCurrent = kept?.sequence === stored.tail.sequence;
        tasks.push(
          isCurrent
            ? kept.seen
            : this.#keep(await readTask(source, stored, query.view, count, turns), query.view),
        );
      } catch (error) {
        if (!(error instanceof ConnectError)) tasks.push(this.#seeDamaged(stored, error));
        else if (findA2AError(error)?.reason !== "TASK_NOT_FOUND") throw error; // it may have expired meanwhile
      }
    }
    return { tasks, page };
  }

  #keep(loaded: LoadedTask, view: TaskView): SeenTask {
    const { taskId, tail } = loaded.stored;
    const seen = { task: loaded.task, generation: tail.generation };
    if (isSmall(loaded)) keptTasks.set(this.#keyOf(taskId, view), { sequence: tail.sequence, seen });
    return seen;
  }

  #keyOf(taskId: string, view: TaskView): string {
    return `${this.#agent} ${view} ${taskId}`;
  }

  /** The facts about a task in the store's index, so that one damaged log does not fail the caller's whole list. */
  #seeDamaged({ taskId, index, tail }: StoredTask, error: unknown): SeenTask {
    const message = "a task cannot be read: its list shows it without its history and artifacts";
    this.#log({ level: "error", message, taskId, error });
    const { contextId, state, statusTimestamp } = index;
    const status = { state, timestamp: timestampFromMs(statusTimestamp) };
    return { task: create(TaskSchema, { id: taskId, contextId, status }), generation: tail.generation };
  }
}

/** Whether a task is kept. `headBytes` has no message of WORKING, and no values of a status in a snapshot, so the status's message counts here. */
function isSmall({ task, headBytes, artifactBytes }: LoadedTask): boolean {
  const bytes = [...artifactBytes.values()].reduce((sum, each) => sum + each, headBytes);
  return bytes <= maxKeptBytes && bytes + weighMessage(task.status?.message) <= maxKeptBytes;
}
