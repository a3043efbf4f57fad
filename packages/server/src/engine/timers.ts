import { isTerminal, lifecycleExtension, readLifecycleReport } from "@a2a-connect/core";
import { parseLifecycleRequest } from "@a2a-connect/core/internal";
import { Role, type Task, TaskState, type TaskStatus } from "@a2a-connect/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AgentDefinition } from "../agent/agent-definition.ts";

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

  /** Sets when to wake the executor. @returns whether `wakeAt` is another one now, which is to be stored */
  setAlarm(at: number | undefined): boolean {
    const before = this.wakeAt;
    this.#alarm = at;
    return this.wakeAt !== before;
  }

  /** Wakes the executor no later than then. A run that repeats its waits, one after the other, changes nothing. @returns see `setAlarm` */
  wakeBy(at: number | undefined): boolean {
    return at !== undefined && at < (this.#alarm ?? Number.POSITIVE_INFINITY) && this.setAlarm(at);
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
