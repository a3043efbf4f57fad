import { isTerminal, lifecycleExtension, readLifecycleReport } from "@a2a-connect/core";
import { parseLifecycleRequest, ReadTurns } from "@a2a-connect/core/internal";
import { Role, type Task, TaskState, type TaskStatus } from "@a2a-connect/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { DueTimer, TaskRef } from "../store/task-store.ts";
import type { KnownCallers } from "./capacity/known-callers.ts";
import type { EngineContext } from "./engine-context.ts";

const defaultQuestionTimeoutMs = 600_000;

/** The reason with which an unanswered question ends its task. */
export type QuestionTimeout = "input-timeout" | "auth-timeout";

/** When a task changes by itself. All times are in the task or in its row, so a restart loses none. */
export class TaskTimers {
  readonly #agent: AgentDefinition;
  #state: TaskState = TaskState.UNSPECIFIED;
  #statusAt = 0;
  /** How long the question waits; undefined: for ever, or there is none. */
  #questionMs: number | undefined;
  #deadline: number | undefined;
  #alarm: number | undefined;

  constructor(agent: AgentDefinition) {
    this.#agent = agent;
  }

  /** When the status was set, in milliseconds since 1970. */
  get statusAt(): number {
    return this.#statusAt;
  }

  /** How long the question waits; undefined: for ever, or there is none. */
  get questionMs(): number | undefined {
    return this.#questionMs;
  }

  /** The task has a new status. */
  setStatus(status: TaskStatus): void {
    this.#state = status.state;
    this.#statusAt = status.timestamp === undefined ? 0 : timestampMs(status.timestamp);
    this.#questionMs = waitMsOf(status) ?? questionTimeoutMs(this.#agent, status.state);
    if (this.#questionMs === Number.POSITIVE_INFINITY) {
      this.#questionMs = undefined;
    }
  }

  /** The caller's newest messages: the last deadline in them counts. */
  setDeadline(task: Pick<Task, "history">): void {
    this.#deadline = readDeadline(task) ?? this.#deadline;
  }

  /** Sets when to wake the executor. @returns whether that is a change */
  setAlarm(at: number | undefined): boolean {
    const isNews = at !== this.#alarm;
    this.#alarm = at;
    return isNews;
  }

  /** When the first timer is due (milliseconds since 1970). */
  get wakeAt(): number | undefined {
    if (isTerminal(this.#state)) {
      return undefined;
    }
    const answerBy = this.#questionMs === undefined ? undefined : this.#statusAt + this.#questionMs;
    const times = [this.#deadline, answerBy, this.#alarm].filter((time) => time !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Whether the caller's deadline is over at `now`. Returns true once: then the timer is removed. */
  takeDeadline(now: number): boolean {
    if (this.#deadline === undefined || now < this.#deadline || isTerminal(this.#state)) {
      return false;
    }
    this.#deadline = undefined;
    return true;
  }

  /** The question that has waited too long at `now`, if any. */
  overdueQuestion(now: number): QuestionTimeout | undefined {
    if (this.#questionMs === undefined || now < this.#statusAt + this.#questionMs) {
      return undefined;
    }
    return this.#state === TaskState.AUTH_REQUIRED ? "auth-timeout" : "input-timeout";
  }
}

/** The deadline in the newest of the caller's messages that has one, in milliseconds since 1970. */
export function readDeadline({ history }: Pick<Task, "history">): number | undefined {
  for (const message of history.toReversed()) {
    if (message.role === Role.USER && message.metadata?.[lifecycleExtension] !== undefined) {
      const parsed = parseLifecycleRequest(message.metadata);
      if ("request" in parsed && parsed.request.deadline !== undefined) {
        return Date.parse(parsed.request.deadline);
      }
    }
  }
  return undefined;
}

/** How long an agent lets a task wait in an interrupted state; undefined: for ever, or the state is not interrupted. */
export function questionTimeoutMs(agent: AgentDefinition, state: TaskState): number | undefined {
  const timeoutMs =
    state === TaskState.INPUT_REQUIRED
      ? (agent.inputTimeoutMs ?? defaultQuestionTimeoutMs)
      : state === TaskState.AUTH_REQUIRED
        ? (agent.authTimeoutMs ?? defaultQuestionTimeoutMs)
        : false;
  return timeoutMs === false ? undefined : timeoutMs;
}

/** How long this question waits, if it says so itself; infinite: for ever. */
function waitMsOf({ state, message }: TaskStatus): number | undefined {
  if (state !== TaskState.INPUT_REQUIRED && state !== TaskState.AUTH_REQUIRED) {
    return undefined;
  }
  const { waitSeconds } = readLifecycleReport(message?.metadata);
  if (waitSeconds === "unlimited") {
    return Number.POSITIVE_INFINITY;
  }
  return typeof waitSeconds === "number" ? Math.round(waitSeconds * 1_000) : undefined; // 1.1 × 1000 is not a whole number
}

/** Timers that are read from the store at once. */
const batch = 500;

/** Tasks that are woken at a time, half of them for one caller. */
const maxAtATime = 200;

/** Tasks that are woken, or are to be, at most: beyond it the others stay in the store. */
const maxBegun = 50_000;

const retryMs = 1_000;

/** How often to read the clock: when it is set forward, no timer of the process notices. */
const lookMs = 1_000;

/** A task that is woken. */
interface Begun {
  readonly wakeAt: number;
  /** Its next timer, where that is due before it has been woken. */
  nextAt: number | undefined;
}

interface TimersContext extends Pick<EngineContext, "store" | "clock" | "log"> {
  /** Who has created the tasks. */
  readonly callers: Pick<KnownCallers, "find">;
}

/**
 * Wakes tasks whose timer is due. The timers are rows of the store, so they fire after a restart, too. Memory has only
 * one alarm, for the earliest of them. Callers take turns: thousands of tasks of one may be due at the same moment.
 */
export class WakeTimers {
  readonly #context: TimersContext;
  readonly #wake: (task: TaskRef) => Promise<void>;
  readonly #turns = new ReadTurns(maxAtATime);
  /** The tasks that are woken, or wait for their turn, by id. */
  readonly #begun = new Map<string, Begun>();
  /** Up to here the timers of the store have begun. */
  #reached: DueTimer | undefined;
  /** The earliest timer that was committed since the store was asked: its answer may be without it. */
  #earliestNews = Number.POSITIVE_INFINITY;
  #isRetrying = false;
  #alarmAt = Number.POSITIVE_INFINITY;
  #cancelAlarm: () => void = () => {};
  #cancelLook: () => void = () => {};
  #closed = false;

  constructor(context: TimersContext, wake: (task: TaskRef) => Promise<void>) {
    this.#context = context;
    this.#wake = wake;
  }

  /** A timer has been committed. */
  note(at: number): void {
    this.#earliestNews = Math.min(this.#earliestNews, at);
    if (this.#reached !== undefined && at <= this.#reached.wakeAt) {
      this.#reached = undefined;
    }
    if (this.#closed || at >= this.#alarmAt) {
      return;
    }
    this.#cancelAlarm();
    this.#alarmAt = at;
    const { clock } = this.#context;
    this.#cancelAlarm = clock.schedule(Math.max(0, at - clock.now()), () => void this.#ring());
  }

  /** Sets the alarm for the timers in the store, and begins to read the clock. */
  async start(): Promise<void> {
    await this.#setAlarm();
    this.#lookAgain();
  }

  async #setAlarm(): Promise<void> {
    const [first] = await this.#context.store.due(Number.MAX_SAFE_INTEGER, 1, this.#reached);
    if (first !== undefined) {
      this.note(first.wakeAt);
    }
  }

  close(): void {
    this.#closed = true;
    this.#cancelAlarm();
    this.#cancelLook();
  }

  #lookAgain(): void {
    const look = () => {
      if (this.#context.clock.now() >= this.#alarmAt) {
        this.#cancelAlarm();
        void this.#ring();
      }
      this.#lookAgain();
    };
    if (!this.#closed) {
      this.#cancelLook = this.#context.clock.schedule(lookMs, look, { background: true });
    }
  }

  #tryLater(error: unknown): void {
    this.#reached = undefined;
    if (this.#isRetrying) {
      return;
    }
    this.#isRetrying = true;
    this.#context.log({ level: "error", message: "due timers could not be handled; trying again", error });
    this.note(this.#context.clock.now() + retryMs);
  }

  async #ring(): Promise<void> {
    this.#alarmAt = Number.POSITIVE_INFINITY;
    this.#isRetrying = false;
    try {
      const { store, clock } = this.#context;
      let due: readonly DueTimer[];
      do {
        this.#earliestNews = Number.POSITIVE_INFINITY;
        due = await store.due(clock.now(), batch, this.#reached);
        for (const timer of due) this.#begin(timer);
        const last = due.at(-1);
        if (last !== undefined) this.#reached = this.#earliestNews <= last.wakeAt ? undefined : last;
        if (due.length === batch) await clock.nextTurn();
      } while (due.length === batch && this.#begun.size < maxBegun);
      await this.#goOn();
    } catch (error) {
      this.#tryLater(error);
    }
  }

  #begin(timer: DueTimer): void {
    const { owner, taskId, wakeAt } = timer;
    const begun = this.#begun.get(taskId);
    if (begun !== undefined) {
      if (wakeAt !== begun.wakeAt) begun.nextAt = wakeAt;
      return;
    }
    const woken: Begun = { wakeAt, nextAt: undefined };
    this.#begun.set(taskId, woken);
    void this.#turns
      .run({ share: this.#context.callers.find({ owner, taskId }) }, () => this.#wake(timer))
      .finally(() => {
        this.#begun.delete(taskId);
        if (woken.nextAt !== undefined) this.note(woken.nextAt);
      })
      .then(() => (this.#begun.size === 0 ? this.#goOn() : undefined))
      .catch((error: unknown) => this.#tryLater(error));
  }

  /** Sets the next alarm. When nothing is begun, that is for all timers in the store: one may have been passed over meanwhile. */
  async #goOn(): Promise<void> {
    if (this.#isRetrying || this.#closed) {
      return;
    }
    if (this.#begun.size === 0) {
      this.#reached = undefined;
    }
    if (this.#begun.size < maxBegun) await this.#setAlarm();
  }
}
