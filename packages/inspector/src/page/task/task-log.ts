import type { AgentClient } from "@a2a-connect/client";
import { applyStep, copyTask } from "@a2a-connect/core/internal";
import { type Task, TaskSchema, TaskState, type TaskStatus } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { type ReadonlySignal, signal } from "@preact/signals";
import { explain, type Failure } from "../session/failure.ts";
import { countKept, takeStreamSlot } from "../session/stream-slots.ts";
import { createBreath, createFramed, type Framed } from "../ui/frame.ts";
import { LoggedEvent } from "./logged-event.ts";

/** A stretch of time in one state. */
export interface Segment {
  readonly state: TaskState;
  /** Index of the event that began it. */
  readonly index: number;
  readonly fromMs: number;
}

/** A fold on its way: the task after the event at `index`, changed in place. */
interface Walk {
  task: Task | undefined;
  index: number;
}

/** Events between two kept folds of a task: what a look at any point costs at most. */
const checkpointDistance = 1_500;

/** Events that are folded at once. */
const nearDistance = 2_000;

/** Events that come later than this after the one before did not come out of the agent's memory: they happened just then. */
const liveAfterMs = 120;

/** The first line of a file with a log. */
const fileMark = "a2aTaskLog";

/** The events of one task, from its creation on, as far as they are known. */
export class TaskLog {
  readonly taskId: string;
  readonly events: LoggedEvent[] = [];
  readonly segments: Segment[] = [];
  /** The task after so many events. */
  readonly #checkpoints = new Map<number, Task>();
  /** The task at the end of a log that grows. */
  readonly #head: Walk = { task: undefined, index: -1 };
  readonly #framed: Framed<TaskLog> = createFramed<TaskLog>(this);
  readonly #failure = signal<Failure | undefined>(undefined);
  readonly #isOpen = signal(false);
  #status: TaskStatus | undefined;

  constructor(taskId: string) {
    this.taskId = taskId;
  }

  /** The log, anew for every frame in which it has grown. */
  get shown(): ReadonlySignal<{ readonly current: TaskLog }> {
    return this.#framed.shown;
  }

  get failure(): ReadonlySignal<Failure | undefined> {
    return this.#failure;
  }

  /** Whether more events may come. */
  get isOpen(): ReadonlySignal<boolean> {
    return this.#isOpen;
  }

  add(event: LoggedEvent): void {
    const index = this.events.push(event) - 1;
    if (event.mayChangeState) {
      const { status, atMs } = event;
      this.#status = status ?? this.#status;
      if (status !== undefined && status.state !== this.segments.at(-1)?.state && atMs !== undefined) {
        this.segments.push({ state: status.state, index, fromMs: atMs });
      }
    }
    this.#framed.changed();
  }

  /** Reads the task's events from its creation on, and those that follow until it ends or `signal` aborts. */
  async follow(agent: AgentClient, signal: AbortSignal): Promise<void> {
    this.#isOpen.value = true;
    const lost = new AbortController();
    using _slot = takeStreamSlot(() =>
      lost.abort(new Error("Other streams were opened; load the page again.")),
    );
    const breathe = createBreath();
    let isLive = false;
    let last = performance.now();
    try {
      const stream = agent.follow(this.taskId, {
        after: 0,
        signal: AbortSignal.any([signal, lost.signal]),
      });
      const count = countKept();
      for await (const response of stream) {
        count(response);
        const now = performance.now();
        isLive ||= this.events.length > 0 && now - last > liveAfterMs;
        last = now;
        this.add(LoggedEvent.received(response, stream.lastEventId, isLive ? Date.now() : undefined));
        if (breathe.isDue()) {
          await breathe();
          last = performance.now(); // the pause was the page's own
        }
      }
    } catch (error) {
      if (!signal.aborted) this.#failure.value = explain(error);
    } finally {
      this.#isOpen.value = false;
    }
  }

  /** What the agent said last about the task's state. */
  get status(): TaskStatus | undefined {
    return this.#status;
  }

  /** Whether `taskAt` costs so little that nothing waits for it. */
  isNear(index: number): boolean {
    return index - this.#nearest(index) <= nearDistance || this.#isNearEnd(index);
  }

  /** The task after the event at `index`. Events that cannot follow are left out: an agent may send anything. */
  taskAt(index: number): Task {
    if (this.#isNearEnd(index)) {
      while (this.#head.index < index) this.#step(this.#head);
      return this.#head.task ?? create(TaskSchema, { id: this.taskId });
    }
    const walk = this.#beginNear(index);
    while (walk.index < index) this.#step(walk);
    return walk.task ?? create(TaskSchema, { id: this.taskId });
  }

  /** The same in slices, for any distance. */
  async makeTaskAt(index: number, signal: AbortSignal): Promise<Task> {
    const breathe = createBreath();
    const walk = this.#beginNear(index);
    while (walk.index < index && !signal.aborted) {
      this.#step(walk);
      if (breathe.isDue()) await breathe();
    }
    return walk.task ?? create(TaskSchema, { id: this.taskId });
  }

  #isNearEnd(index: number): boolean {
    const { index: head } = this.#head;
    return index >= head && index - head <= nearDistance && index >= this.events.length - nearDistance;
  }

  /** The last event up to `index` after which a task is kept; -1: before the first one. */
  #nearest(index: number): number {
    let nearest = -1;
    for (const known of this.#checkpoints.keys()) {
      if (known <= index && known > nearest) nearest = known;
    }
    return nearest;
  }

  #beginNear(index: number): Walk {
    const nearest = this.#nearest(index);
    const checkpoint = this.#checkpoints.get(nearest);
    return { task: checkpoint === undefined ? undefined : copyTask(checkpoint), index: nearest };
  }

  #step(walk: Walk): void {
    walk.index += 1;
    const event = this.events[walk.index];
    try {
      if (event !== undefined) walk.task = applyStep(walk.task, event.payload);
    } catch {
      // It cannot follow.
    }
    if (
      walk.index % checkpointDistance === 0 &&
      walk.task !== undefined &&
      !this.#checkpoints.has(walk.index)
    ) {
      this.#checkpoints.set(walk.index, copyTask(walk.task));
    }
  }

  /** The state after the event at `index`. */
  stateAt(index: number): TaskState {
    return this.segments.findLast((each) => each.index <= index)?.state ?? TaskState.UNSPECIFIED;
  }

  /** The log as the text of a file: a line about the log, then a line for each event. */
  async *toLines(agentName: string): AsyncGenerator<string> {
    const breathe = createBreath();
    yield `${JSON.stringify({ [fileMark]: 1, taskId: this.taskId, agent: agentName, exported: new Date().toISOString() })}\n`;
    for (const event of this.events) {
      yield `${event.toLine()}\n`;
      if (breathe.isDue()) await breathe();
    }
  }
}

/**
 * The log in the text of a file.
 *
 * @throws Error when the file has none
 */
export async function readTaskLog(text: string): Promise<TaskLog> {
  const end = text.indexOf("\n");
  const head = text.slice(0, end === -1 ? undefined : end);
  if (end > 10_000 || !head.includes(`"${fileMark}":1`)) {
    throw new Error('This is no log of a task: the first line of one has "a2aTaskLog":1.');
  }
  const { taskId } = JSON.parse(head) as { readonly taskId?: unknown }; // it names itself a log
  const log = new TaskLog(typeof taskId === "string" ? taskId : "a task");
  const breathe = createBreath();
  for (let from = end + 1; from > 0 && from < text.length; ) {
    const next = text.indexOf("\n", from);
    const line = text.slice(from, next === -1 ? undefined : next);
    if (line !== "") log.add(LoggedEvent.fromLine(line, log.events.length + 1));
    from = next + 1;
    if (breathe.isDue()) await breathe();
  }
  return log;
}
