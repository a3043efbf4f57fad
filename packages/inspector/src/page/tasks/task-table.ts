import type { AgentClient } from "@a2a-connect/client";
import { type Task, TaskState } from "@a2a-connect/proto";
import { type ReadonlySignal, signal } from "@preact/signals";
import { explain, type Failure } from "../session/failure.ts";

/** Which tasks are shown: what ListTasks can filter by. */
export interface TaskFilter {
  readonly state: TaskState;
  readonly contextId: string;
  /** Tasks whose status changed within so many minutes; 0: all. */
  readonly minutes: number;
}

/** A page of the table, as the agent last gave it. */
export interface TaskRows {
  readonly tasks: readonly Task[];
  readonly totalSize: number;
  readonly nextPageToken: string;
  readonly at: number;
}

/** States in the order in which a person looks at them: what waits for people first. */
export const states: readonly TaskState[] = [
  TaskState.INPUT_REQUIRED,
  TaskState.AUTH_REQUIRED,
  TaskState.WORKING,
  TaskState.SUBMITTED,
  TaskState.COMPLETED,
  TaskState.FAILED,
  TaskState.REJECTED,
  TaskState.CANCELED,
];

const pageSize = 25;

/** How long after an answer the table asks again, in milliseconds. */
const refreshMs = 2_000;

/** Counts change less often than people look at them, and cost a call for each state. */
const countsMs = 6_000;

/** The agent's tasks, asked for again and again while the table is open: A2A has no stream of lists. */
export class TaskTable {
  readonly #agent: AgentClient;
  readonly #rows = signal<TaskRows | undefined>(undefined);
  readonly #counts = signal<ReadonlyMap<TaskState, number>>(new Map());
  readonly #failure = signal<Failure | undefined>(undefined);
  readonly #filter = signal<TaskFilter>({ state: TaskState.UNSPECIFIED, contextId: "", minutes: 0 });
  /** The tokens of the pages up to the one that is shown. */
  readonly #pages = signal<readonly string[]>([""]);
  #closed = new AbortController();
  #countedAt = 0;
  #wake = (): void => {};

  constructor(agent: AgentClient) {
    this.#agent = agent;
  }

  get rows(): ReadonlySignal<TaskRows | undefined> {
    return this.#rows;
  }

  get counts(): ReadonlySignal<ReadonlyMap<TaskState, number>> {
    return this.#counts;
  }

  get failure(): ReadonlySignal<Failure | undefined> {
    return this.#failure;
  }

  get filter(): ReadonlySignal<TaskFilter> {
    return this.#filter;
  }

  /** The number of the page that is shown, from 1. */
  get page(): number {
    return this.#pages.value.length;
  }

  change(filter: Partial<TaskFilter>): void {
    this.#filter.value = { ...this.#filter.value, ...filter };
    this.#pages.value = [""];
    this.#wake();
  }

  turnPage(forward: boolean): void {
    const token = this.#rows.value?.nextPageToken ?? "";
    if (forward && token !== "") this.#pages.value = [...this.#pages.value, token];
    if (!forward && this.#pages.value.length > 1) this.#pages.value = this.#pages.value.slice(0, -1);
    this.#wake();
  }

  /** Keeps the table current until `close`, or the agent gives no list and would give none if it were asked again. */
  open(): void {
    this.#closed = new AbortController();
    const { signal: closed } = this.#closed;
    const loop = async (): Promise<void> => {
      while (!closed.aborted && !isFinal(this.#failure.value)) {
        if (!document.hidden) await this.#refresh(closed);
        await this.#pause(refreshMs, closed);
      }
    };
    void loop();
  }

  close(): void {
    this.#closed.abort();
    this.#wake();
  }

  async #refresh(closed: AbortSignal): Promise<void> {
    try {
      const { state, contextId, minutes } = this.#filter.value;
      const pageToken = this.#pages.value.at(-1) ?? "";
      const page = await this.#list(closed, {
        pageSize,
        historyLength: 10,
        ...(state === TaskState.UNSPECIFIED ? {} : { status: state }),
        ...(contextId === "" ? {} : { contextId }),
        ...(minutes === 0 ? {} : { since: new Date(Date.now() - minutes * 60_000) }),
        ...(pageToken === "" ? {} : { pageToken }),
      });
      if (page !== undefined) {
        const tasks = page.tasks.slice(0, pageSize); // an agent may send more than it is asked for
        this.#rows.value = { ...page, tasks, at: Date.now() };
      }
      this.#failure.value = undefined;
      if (Date.now() - this.#countedAt > countsMs) await this.#count(closed);
    } catch (error) {
      if (!closed.aborted) this.#failure.value = explain(error);
    }
  }

  async #count(closed: AbortSignal): Promise<void> {
    const counts = new Map<TaskState, number>();
    for (const status of states) {
      const page = await this.#list(closed, { status, pageSize: 1, historyLength: 0 });
      counts.set(status, page?.totalSize ?? 0);
    }
    this.#counts.value = counts;
    this.#countedAt = Date.now();
  }

  /** One page: the client's iterator over all of them is left after it. */
  async #list(closed: AbortSignal, options: Parameters<AgentClient["listTasks"]>[0]) {
    for await (const page of this.#agent.listTasks({ ...options, signal: closed }).pages()) {
      return page;
    }
    return undefined;
  }

  #pause(ms: number, closed: AbortSignal): Promise<void> {
    if (closed.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Whether the same call would fail again: the agent has no lists, or wants other credentials. */
function isFinal(failure: Failure | undefined): boolean {
  return (
    failure !== undefined &&
    (failure.needsCredentials || /^(?:UNSUPPORTED_OPERATION|Unimplemented)$/.test(failure.reason ?? ""))
  );
}
