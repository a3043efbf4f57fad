import type { EngineContext } from "../engine/engine-context.ts";
import type { Delivery, DeliveryMove, Owner } from "../store/task-store.ts";
import { chooseDeliveries } from "./choose-deliveries.ts";
import { createNotification, type Notification } from "./notification.ts";
import { type PostOutcome, postNotification } from "./post-notification.ts";
import { completePushOptions, type PushOptions } from "./push-options.ts";
import { retryDelayMs } from "./retry-delay.ts";

/** What a sender works with. */
export interface PushContext extends Pick<EngineContext, "store" | "clock" | "log"> {
  /** From 0 up to 1: spreads further attempts. Default `Math.random`. */
  readonly random?: () => number;
}

/** The name of a push config. */
export interface PushConfigName {
  readonly owner: Owner;
  readonly taskId: string;
  readonly id: string;
}

/** How long a store that fails is left alone. */
const storeRetryMs = 1_000;

/** A delivery under way: one event, one request. */
interface Run {
  readonly delivery: Delivery;
  /** Aborted when the config is removed or replaced, and at the end. */
  readonly controller: AbortController;
}

/**
 * Tells webhooks of the events of their tasks (spec §4.3.3). How far each has been told is a cursor in the store, so
 * nothing is lost with this process or a wake-up; here is only what is under way, and one alarm. A webhook gets one
 * request at a time, which keeps its events in order, and then it is the others' turn.
 */
export class PushSender {
  readonly #context: PushContext;
  readonly #options: ReturnType<typeof completePushOptions>;
  readonly #runs = new Map<number, Run>();
  /** Further attempts among them. */
  #retrying = 0;
  #last = 0;
  #wanted = false;
  #looking = false;
  /** Configs that went or came since the store was asked what is due. */
  #changed: PushConfigName[] = [];
  #cancelAlarm: () => void = () => {};
  #closed = false;
  #idle = Promise.withResolvers<void>();

  /** @throws Error when an option makes no sense */
  constructor(context: PushContext, options: PushOptions) {
    this.#context = context;
    this.#options = completePushOptions(options);
  }

  /** Whether callers are not shown the secrets of configs, not even their own (requirement N-9). */
  get redactCredentials(): boolean {
    return this.#options.redactCredentials;
  }

  /** Why a webhook may not be registered (its address is not allowed, say); undefined when it may (requirement N-6). */
  refuseUrl(url: string): string | undefined {
    return this.#options.refuseUrl(url);
  }

  /** Something may be due: look. Call it at the start, too, for what an earlier process has left. */
  wake(): void {
    this.#wanted = true;
    if (!this.#looking && !this.#closed) {
      this.#looking = true;
      void this.#lookAll();
    }
  }

  /** A config was stored or removed: what is under way for the one before stops at once (requirement A-56). */
  configChanged(name: PushConfigName): void {
    this.#changed.push(name);
    for (const { delivery, controller } of this.#runs.values()) {
      if (isOf(delivery, name)) {
        controller.abort();
      }
    }
    this.wake();
  }

  /**
   * Begins no further request, and resolves when none is under way. What was not taken by then is sent again after the
   * next start.
   *
   * @param graceMs how long requests under way may still take; a second call may shorten it
   */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    this.#cancelAlarm();
    this.#settle();
    const abortAll = () => {
      for (const { controller } of this.#runs.values()) {
        controller.abort();
      }
    };
    if (graceMs <= 0) {
      abortAll();
    }
    const cancelGrace = this.#context.clock.schedule(graceMs, abortAll);
    await this.#idle.promise;
    cancelGrace();
  }

  async #lookAll(): Promise<void> {
    const { clock, log } = this.#context;
    try {
      while (this.#wanted && !this.#closed) {
        await clock.nextTurn(); // whatever becomes due in one turn is looked for once
        this.#wanted = false;
        await this.#look();
      }
    } catch (error) {
      log({ level: "error", message: "due notifications could not be read; trying again", error });
      this.#setAlarm(clock.now() + storeRetryMs);
    } finally {
      this.#looking = false;
      this.#settle();
    }
  }

  async #look(): Promise<void> {
    const { store, clock } = this.#context;
    const { maxConcurrent, retry } = this.#options;
    this.#changed = [];
    if (this.#runs.size >= maxConcurrent) {
      return; // whoever ends looks again
    }
    // Those under way are among them, and what is not due yet: the first of these sets the alarm.
    const page = await store.dueDeliveries(Number.MAX_SAFE_INTEGER, 4 * maxConcurrent);
    if (this.#closed) {
      return;
    }
    const { start, nextAt } = chooseDeliveries(
      page.filter((delivery) => !this.#changed.some((name) => isOf(delivery, name))),
      {
        now: clock.now(),
        running: new Set(this.#runs.keys()),
        places: maxConcurrent - this.#runs.size,
        retryPlaces: Math.ceil(maxConcurrent / 2) - this.#retrying,
        last: this.#last,
        maxDelayMs: retry.maxMs,
      },
    );
    for (const delivery of start) {
      void this.#run({ delivery, controller: new AbortController() });
    }
    this.#cancelAlarm();
    if (nextAt !== undefined) {
      this.#setAlarm(nextAt);
    }
  }

  async #run(run: Run): Promise<void> {
    const { number, attempts } = run.delivery;
    const isRetry = attempts > 0;
    this.#runs.set(number, run);
    if (isRetry) {
      this.#retrying++;
    } else {
      this.#last = number;
    }
    const outcome = await this.#post(run);
    const move = this.#decide(run.delivery, outcome);
    if (move !== undefined) {
      await this.#move(move, run.controller.signal);
    }
    this.#runs.delete(number);
    this.#retrying -= isRetry ? 1 : 0;
    this.#settle();
    this.wake();
  }

  async #post({ delivery, controller: { signal } }: Run): Promise<PostOutcome> {
    const { owner, taskId, next, config } = delivery;
    const { store, clock } = this.#context;
    let notification: Notification | undefined;
    try {
      const [event] = await store.events(owner, taskId, next - 1, 1);
      notification = event?.generation === next ? createNotification(config, event) : undefined;
    } catch {
      // What is wrong with a config or an event is private.
    }
    if (signal.aborted) {
      return { kind: "stopped" };
    }
    return notification === undefined
      ? { kind: "failed", problem: "was not called, because its event could not be read" }
      : postNotification(config.url, notification, { ...this.#options, clock, signal });
  }

  /** Where the delivery goes on; undefined when nothing is known, and the event is sent again. */
  #decide({ number, next, attempts, taskId }: Delivery, outcome: PostOutcome): DeliveryMove | undefined {
    const { clock, log, random = Math.random } = this.#context;
    switch (outcome.kind) {
      case "taken":
        if (attempts > 0) {
          const message = `a webhook works again after ${attempts} failed attempts`;
          log({ level: "info", message, taskId });
        }
        return { number, next: next + 1, attempts: 0, retryAt: undefined };
      case "failed": {
        if (attempts === 0) {
          const message = `a webhook ${outcome.problem}; trying again until it takes the event`;
          log({ level: "warn", message, taskId });
        }
        const delayMs = retryDelayMs(attempts + 1, this.#options.retry, random());
        return { number, next, attempts: attempts + 1, retryAt: clock.now() + delayMs };
      }
      case "stopped":
        return undefined;
    }
  }

  /** Keeps the delivery under way until the store takes it: a webhook would get the same event all the time otherwise. */
  async #move(move: DeliveryMove, signal: AbortSignal): Promise<void> {
    const { store, log } = this.#context;
    for (;;) {
      try {
        await store.moveDelivery(move);
        return;
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        log({ level: "error", message: "a notification was sent, and that cannot be stored", error });
        await this.#pause(storeRetryMs, signal);
      }
    }
  }

  async #pause(delayMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#context.clock.schedule(delayMs, resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    cancel();
  }

  #setAlarm(at: number): void {
    if (!this.#closed) {
      const { clock } = this.#context;
      this.#cancelAlarm = clock.schedule(Math.max(0, at - clock.now()), () => this.wake());
    }
  }

  #settle(): void {
    if (this.#closed && !this.#looking && this.#runs.size === 0) {
      this.#idle.resolve();
    }
  }
}

function isOf({ owner, taskId, config }: Delivery, name: PushConfigName): boolean {
  return (
    config.id === name.id &&
    taskId === name.taskId &&
    owner.tenant === name.owner.tenant &&
    owner.principal === name.owner.principal
  );
}
