import type { TaskRef } from "../store/task-store.ts";
import type { EngineContext } from "./engine-context.ts";

const batch = 100;
const retryMs = 1_000;

/** How often to read the clock: when it is set forward, no timer of the process notices. */
const lookMs = 1_000;

/**
 * Wakes tasks whose timer is due. The timers are rows of the store, so they fire after a restart, too. Memory has only
 * one alarm, for the earliest of them.
 */
export class WakeTimers {
  readonly #context: Pick<EngineContext, "store" | "clock" | "log">;
  readonly #wake: (task: TaskRef) => Promise<void>;
  #alarmAt = Number.POSITIVE_INFINITY;
  #cancelAlarm: () => void = () => {};
  #cancelLook: () => void = () => {};
  #closed = false;

  constructor(
    context: Pick<EngineContext, "store" | "clock" | "log">,
    wake: (task: TaskRef) => Promise<void>,
  ) {
    this.#context = context;
    this.#wake = wake;
  }

  /** A timer has been committed. */
  note(at: number): void {
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
    const [first] = await this.#context.store.due(Number.MAX_SAFE_INTEGER, 1);
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
    this.#context.log({ level: "error", message: "due timers could not be handled; trying again", error });
    this.note(this.#context.clock.now() + retryMs);
  }

  async #ring(): Promise<void> {
    this.#alarmAt = Number.POSITIVE_INFINITY;
    try {
      const due = await this.#context.store.due(this.#context.clock.now(), batch);
      const outcomes = await Promise.allSettled(due.map((task) => this.#wake(task)));
      const failed = outcomes.find(({ status }) => status === "rejected");
      if (failed === undefined) {
        await this.#setAlarm();
      } else {
        this.#tryLater(failed.status === "rejected" ? failed.reason : undefined);
      }
    } catch (error) {
      this.#tryLater(error);
    }
  }
}
