import { isOlderConfig } from "@a2a-connect/bindings/server";
import { parseForeignUrl, pause } from "@a2a-connect/core/internal";
import { KnownCallers } from "../engine/capacity/known-callers.ts";
import type { DueTask, EngineContext } from "../engine/engine-context.ts";
import { type CountBytes, type LoadedTask, readTask } from "../engine/read-task.ts";
import type { Delivery, DeliveryMove, DueDeliveries, TaskView } from "../store/task-store.ts";
import { type Attempt, chooseDeliveries, type DeliveryChoice, isLarge } from "./choose-deliveries.ts";
import { ConfigQuota, type PushConfigName } from "./config-quota.ts";
import { nextPageMs } from "./look-turns.ts";
import { NotedTasks } from "./noted-tasks.ts";
import { createNotification, type Notification } from "./notification.ts";
import { type PostOutcome, postNotification } from "./post-notification.ts";
import { completePushOptions, type PushOptions, retryDelayMs } from "./push-options.ts";
import { type PushLimits, PushPlaces } from "./push-places.ts";

/** What a sender uses. */
export interface PushContext extends Pick<EngineContext, "store" | "clock" | "log" | "nameOwner"> {
  readonly limits: Pick<EngineContext["limits"], "maxShare">;
  /** The places of its requests, which senders with the same limits share. Default: it has its own. */
  readonly placesFor?: ((limits: PushLimits) => PushPlaces) | undefined;
  /** From 0 up to 1: spreads repeated attempts. Default `Math.random`. */
  readonly random?: () => number;
}

/** How long to wait after the store has failed. */
const storeRetryMs = 1_000;

/** How many tasks with an event that no look has considered are looked at after a page, */
const maxNotedInALook = 16;

/** and how many deliveries of each. */
const maxNotedDeliveries = 16;

/** All deliveries that become due in so many turns of the event loop need one look. */
const turnsBetweenLooks = 8;

/** A running delivery: one request. */
interface Run extends Attempt {
  bytes: number;
  /** The last event that it tells of. */
  last: number;
  /** Aborts when the config is removed or replaced, and at the end. */
  readonly controller: AbortController;
}

/**
 * Sends the events of tasks to webhooks (spec §4.3.3). The position of each webhook is a cursor in the store, so no
 * event is lost with this process or a wake-up. Memory has only the running requests, and one alarm. A webhook gets one
 * request at a time, which keeps its events in order; then the other webhooks come first.
 */
export class PushSender {
  readonly #context: PushContext;
  readonly #options: ReturnType<typeof completePushOptions>;
  readonly #quota: ConfigQuota;
  readonly #callers: KnownCallers;
  readonly #runs = new Map<number, Run>();
  readonly #places: PushPlaces;
  /** Number of the last delivery that was considered. */
  #last = 0;
  /** Where a round over several pages began; undefined between rounds. */
  #roundStart: number | undefined;
  /** The last repeated attempt that was considered in a round over several pages; undefined between rounds. */
  #lastRetry: Delivery | undefined;
  /** Whether another round follows: what was considered early in this one may have room now. */
  #retryRoundWanted = false;
  /**
   * When the next page may be read after a long one with nothing to start, as `ticks` counts. New events do not wait for it: their
   * tasks are noted.
   */
  #nextPageAt = 0;
  /**
   * Tasks with an event that no look has considered. Where more deliveries are due than a page has, theirs do not wait for a round
   * through all: one caller may have thousands whose webhooks hang.
   */
  readonly #noted = new NotedTasks();
  #wanted = false;
  #looking = false;
  /** Whether a look is under way: the store may be slow, or hang. */
  #reading = false;
  /** Configs that were removed or stored since the store was asked for due deliveries. */
  #changed: PushConfigName[] = [];
  #cancelAlarm: () => void = () => {};
  #closed = false;
  #idle = Promise.withResolvers<void>();

  /** @throws Error when an option is invalid */
  constructor(context: PushContext, options: PushOptions) {
    this.#context = context;
    this.#options = completePushOptions(options);
    this.#callers = new KnownCallers(context.nameOwner);
    this.#quota = new ConfigQuota(context.store, this.#options.maxConfigsPerTask);
    const { maxConcurrent, maxConcurrentBytes } = this.#options;
    const limits = { maxConcurrent, maxConcurrentBytes, maxShare: context.limits.maxShare };
    this.#places = context.placesFor?.(limits) ?? new PushPlaces(context.clock, limits);
  }

  /** Whether answers hide the secrets of configs from all callers, also from their owner (requirement N-9). */
  get redactCredentials(): boolean {
    return this.#options.redactCredentials;
  }

  /** Why a webhook may not be registered (its address is not allowed, say); undefined when it may (requirement N-6). */
  refuseUrl(url: string): string | undefined {
    return this.#options.refuseUrl(url);
  }

  /** Bytes that one config may have. */
  get maxConfigBytes(): number {
    return this.#options.maxConfigBytes;
  }

  /**
   * Reserves room for a config until it is stored. Call it before storing a config, and the returned function after.
   *
   * @throws ConnectError TASK_TOO_LARGE when the task has the maximum already, and this config replaces none of them
   */
  reserve(name: PushConfigName): Promise<() => void> {
    return this.#quota.reserve(name);
  }

  /**
   * Looks for due deliveries. Call it at the start, too, for those of an earlier process.
   *
   * @param task what has an event that no look has considered, if that is why
   */
  wake(task?: DueTask): void {
    if (task !== undefined) this.#noted.add(task);
    this.#roundStart = undefined;
    this.#retryRoundWanted = true;
    this.#lookSoon();
  }

  /** @returns whether it looks soon; with a look under way it does when that is over */
  readonly #lookForRoom = (): boolean => {
    this.wake();
    return !this.#reading;
  };

  #lookSoon(): void {
    this.#wanted = true;
    if (!this.#looking && !this.#closed) {
      this.#looking = true;
      void this.#lookAll();
    }
  }

  /** Call it before the commit that registers a config. @param share the name of the caller */
  noteCaller(name: PushConfigName, share: string | undefined): void {
    this.#callers.note(name, share);
  }

  /**
   * A config was stored or removed: a running request of the config before stops at once (requirement A-56).
   *
   * @param share the name of the caller that stored it
   */
  configChanged(name: PushConfigName, share?: string): void {
    this.noteCaller(name, share);
    this.#changed.push(name);
    for (const { delivery, controller } of this.#runs.values()) {
      if (isOf(delivery, name)) {
        controller.abort();
      }
    }
    this.wake();
  }

  /**
   * Begins no further request, and resolves when none runs. An event without a 2xx answer is sent again after the next
   * start.
   *
   * @param graceMs how long running requests may still take; a second call may shorten it
   */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    this.#cancelAlarm();
    this.#places.close(this.#lookForRoom);
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
        for (let turn = 0; turn < turnsBetweenLooks; turn += 1) await clock.nextTurn();
        await this.#lookInTurn();
      }
    } catch (error) {
      log({ level: "error", message: "due notifications could not be read; trying again", error });
      this.#setAlarm(clock.now() + storeRetryMs);
    } finally {
      this.#looking = false;
      this.#settle();
    }
  }

  async #lookInTurn(): Promise<void> {
    const looked = () => this.#places.looked(this.#lookForRoom);
    const look = async () => {
      this.#reading = true;
      await this.#look().finally(() => {
        this.#reading = false;
      });
    };
    if (this.#hasRoom()) await this.#places.looks.run(this.#lookForRoom, look, looked);
    else looked();
  }

  /** Called before a look: whether it may find something to start. Otherwise the next one is when there is room. */
  #hasRoom(): boolean {
    if (this.#closed) return false;
    this.#changed = []; // the store has not been asked since
    if (this.#places.free > 0) return true;
    this.#wanted = false;
    this.#places.wait(this.#lookForRoom, false);
    return false;
  }

  async #look(): Promise<void> {
    const { store, clock } = this.#context;
    const { maxConcurrent, retry } = this.#options;
    if (!this.#hasRoom()) return;
    this.#wanted = false;
    const beganAt = clock.ticks();
    const waitMs = this.#nextPageAt - beganAt;
    if (waitMs > 0) {
      this.#places.wait(this.#lookForRoom, true);
      await this.#lookAtNoted();
      this.#lookIn(waitMs);
      return;
    }
    // Running deliveries are due, too. One that ends meanwhile may have been read before its cursor moved: the next
    // look finds it.
    const running = [...this.#runs.values()];
    const now = clock.now();
    const after = this.#last;
    const roundStart = this.#roundStart ?? after;
    const limit = 2 * maxConcurrent;
    const afterRetry = this.#lastRetry;
    this.#retryRoundWanted &&= afterRetry !== undefined;
    const due = await store.dueDeliveries({ now, latest: now + retry.maxMs, after, afterRetry, limit });
    if (this.#closed) {
      return;
    }
    const choice = this.#choose(due, running);
    const { start, last = after, lastRetry = afterRetry, hasRoom, hasRetryRoom } = choice;
    this.#last = last;
    this.#startAll(start);
    const isIdle = due.fresh.length + due.retries.length === 0 && afterRetry === undefined;
    if (isIdle) this.#places.leave(this.#lookForRoom);
    else this.#places.wait(this.#lookForRoom, true);
    const isFullFresh = due.fresh.length === limit;
    if (!isFullFresh) {
      this.#noted.clear(); // the page has all that is due at once
    } else if (hasRoom) {
      await this.#lookAtNoted();
    }
    // A full page that leaves requests free contains origins and callers that have their share already. Others may come
    // after it, so the round goes on once through all.
    const goesOn = hasRoom && isFullFresh && !isBetween(roundStart, after, last);
    // If it was woken meanwhile, it begins another round at once.
    this.#roundStart = goesOn && !this.#wanted ? roundStart : undefined;
    // The same for repeated attempts.
    const isFullPage = due.retries.length === limit;
    const retriesGoOn = hasRetryRoom && (isFullPage || this.#retryRoundWanted);
    this.#lastRetry = hasRetryRoom && !isFullPage ? undefined : lastRetry;
    if (start.length === 0 && due.fresh.length + due.retries.length >= limit) {
      this.#nextPageAt = this.#places.looks.findNextPage(clock.ticks() - beganAt);
    }
    this.#cancelAlarm();
    if ((goesOn || retriesGoOn) && (due.nextAt ?? Number.POSITIVE_INFINITY) > now + nextPageMs) {
      this.#lookIn(Math.max(nextPageMs, this.#nextPageAt - clock.ticks()));
    } else if (due.nextAt !== undefined) {
      this.#setAlarm(due.nextAt);
    }
  }

  #choose({ fresh, retries }: Omit<DueDeliveries, "nextAt">, running: readonly Run[]): DeliveryChoice {
    const { maxConcurrent, maxConcurrentBytes } = this.#options;
    const isCurrent = (delivery: Delivery) => !this.#changed.some((name) => isOf(delivery, name));
    return chooseDeliveries(
      { fresh: fresh.filter(isCurrent), retries: retries.filter(isCurrent) },
      {
        running,
        others: this.#places.others(new Set(running)),
        maxConcurrent,
        maxConcurrentBytes,
        maxShare: this.#context.limits.maxShare,
        shareOf: ({ owner, taskId, config: { id } }) => this.#callers.find({ owner, taskId, id }),
      },
    );
  }

  #startAll(attempts: readonly Attempt[]): void {
    for (const attempt of attempts) {
      void this.#run({
        ...attempt,
        last: attempt.delivery.next,
        controller: new AbortController(),
      });
    }
  }

  /** Starts what it can of the tasks with the newest events. One that has a running request stays noted until that has ended. */
  async #lookAtNoted(): Promise<void> {
    const running = [...this.#runs.values()]; // before the store is asked, as above
    const busy = new Set(running.map(({ delivery }) => delivery.taskId));
    const fresh: Delivery[] = [];
    for (const { owner, taskId } of this.#noted.take(maxNotedInALook, ({ taskId }) => busy.has(taskId))) {
      fresh.push(...(await this.#context.store.dueDeliveriesOf(owner, taskId, maxNotedDeliveries)));
    }
    if (!this.#closed) {
      this.#startAll(this.#choose({ fresh, retries: [] }, running).start);
    }
  }

  async #run(run: Run): Promise<void> {
    const { number } = run.delivery;
    this.#runs.set(number, run);
    this.#places.begin(run);
    const outcome = await this.#post(run);
    const move = this.#decide(run, outcome);
    if (move !== undefined) {
      await this.#move(move, run);
    }
    this.#runs.delete(number);
    this.#places.end(run, outcome.kind === "failed" && !this.#closed);
    this.#settle();
    this.wake(outcome.kind === "taken" ? { ...run.delivery, share: run.share } : undefined); // its next event may be due already
  }

  async #post(run: Run): Promise<PostOutcome> {
    const { config } = run.delivery;
    const { url } = config;
    const { signal } = run.controller;
    // No fetch parses it: an older version has stored hosts of any length, which cost 40 ms each.
    if (parseForeignUrl(url) === undefined) {
      return { kind: "failed", problem: "was not called, because its URL is none or has too long a host" };
    }
    await this.#places.begins.turn(run.share);
    let notification: Notification;
    try {
      const make = () => this.#make(run);
      const inTurn = isLarge(run) || isOlderConfig(config);
      notification = await (inTurn ? this.#places.makeInTurn(run, signal, make) : make());
    } catch {
      // The reason is private, because it is about a config or an event.
      const problem = "was not called, because its event could not be read";
      return signal.aborted ? { kind: "stopped" } : { kind: "failed", problem };
    }
    if (signal.aborted) return { kind: "stopped" };
    const settings = { ...this.#options, caller: run.share, clock: this.#context.clock, signal };
    return postNotification(url, notification, settings);
  }

  async #make(run: Run): Promise<Notification> {
    const { owner, taskId, next, config } = run.delivery;
    const [event] = await this.#context.store.events(owner, taskId, next - 1, 1);
    if (event?.generation !== next) {
      throw new Error("the event is missing");
    }
    const loaded = isOlderConfig(config) ? await this.#readTask(run.delivery) : undefined;
    run.last = loaded?.stored.tail.generation ?? next; // events that the task has had already need no request of their own
    const notification = await createNotification(
      config,
      { ...event, generation: run.last },
      run.share,
      loaded && { task: loaded.task, maxBytes: this.#options.maxConcurrentBytes },
    );
    run.bytes = notification.bytes;
    this.#places.countMade(run);
    return notification;
  }

  /** The task as it is now; without its history and artifacts when they would take too much memory. */
  async #readTask(delivery: Delivery): Promise<LoadedTask> {
    const { maxConcurrentBytes } = this.#options;
    let bytes = 0;
    const count = (more: number): void => {
      bytes += more;
      if (bytes > maxConcurrentBytes) throw new Error("the task takes too much memory");
    };
    try {
      return await this.#readView(delivery, "full", count);
    } catch (error) {
      if (bytes <= maxConcurrentBytes) throw error;
      return this.#readView(delivery, "summary");
    }
  }

  async #readView({ owner, taskId }: Delivery, view: TaskView, count?: CountBytes): Promise<LoadedTask> {
    const stored = await this.#context.store.find(owner, taskId, view);
    if (stored === undefined) {
      throw new Error("the task is missing");
    }
    return readTask(this.#context, stored, view, count);
  }

  /** The cursor's next position; undefined when the result is not known, and the event is sent again. */
  #decide({ delivery, last }: Run, outcome: PostOutcome): DeliveryMove | undefined {
    const { number, next, attempts, taskId } = delivery;
    const { clock, log, random = Math.random } = this.#context;
    switch (outcome.kind) {
      case "taken":
        if (attempts > 0) {
          const message = `a webhook works again after ${attempts} failed attempts`;
          log({ level: "info", message, taskId });
        }
        return { number, next: last + 1, attempts: 0, retryAt: undefined };
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

  /**
   * Keeps the delivery running until the store has moved its cursor. Otherwise the webhook would get the same event
   * again and again.
   */
  async #move(move: DeliveryMove, { share, controller: { signal } }: Run): Promise<void> {
    const { store, log, clock } = this.#context;
    for (;;) {
      try {
        await store.moveDelivery(move, share);
        return;
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        log({ level: "error", message: "a notification was sent, and its cursor cannot be stored", error });
        await pause(storeRetryMs, (ms, tick) => clock.schedule(ms, tick), signal);
      }
    }
  }

  #setAlarm(at: number): void {
    if (!this.#closed) {
      const { clock } = this.#context;
      this.#cancelAlarm = clock.schedule(Math.max(0, at - clock.now()), () => this.wake());
    }
  }

  #lookIn(ms: number): void {
    if (!this.#closed) {
      this.#cancelAlarm();
      this.#cancelAlarm = this.#context.clock.schedule(ms, () => this.#lookSoon());
    }
  }

  #settle(): void {
    if (this.#closed && !this.#looking && this.#runs.size === 0) {
      this.#idle.resolve();
    }
  }
}

/** Whether a number comes after `after` and up to `last`, counting around the end if necessary. */
function isBetween(number: number, after: number, last: number): boolean {
  return after < last ? number > after && number <= last : number > after || number <= last;
}

function isOf({ owner, taskId, config }: Delivery, name: PushConfigName): boolean {
  return (
    config.id === name.id &&
    taskId === name.taskId &&
    owner.tenant === name.owner.tenant &&
    owner.principal === name.owner.principal
  );
}
