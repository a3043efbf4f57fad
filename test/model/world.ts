import { lifecycleExtension, userMessage } from "@a2a-connect/core";
import { versionHeader } from "@a2a-connect/core/internal";
import { TaskState } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import type { Owner } from "@a2a-connect/server/store";
import { createFakeClock } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Action, Scenario } from "./action.ts";
import { Callers, type Sending } from "./callers.ts";
import { createFaultStore, type FaultStore } from "./fault-store.ts";
import { foldLog, formatTask, isAsking, isFinal } from "./fold-log.ts";
import { failsWhenInterrupted, Ledger, type TaskLog, waitsForPlace } from "./ledger.ts";
import { type Doom, EngineProcess, retentionMs, type Surroundings } from "./process.ts";

const owner: Owner = { tenant: "", principal: "anonymous" };

const dayMs = 86_400_000;

/** More rounds than any graceful stop may take. */
const maxStopRounds = 50;

/** What a world has seen, to know that the scenarios reach what they are about. */
export interface Census {
  tasks: number;
  crashes: number;
  expired: number;
  waitingForEver: number;
  acknowledged: number;
  refused: number;
  shown: number;
  resumed: number;
  effects: number;
  replays: number;
  byState: Record<string, number>;
  byReason: Record<string, number>;
}

/** One store, the processes that come and go over it, and their callers. */
export class World {
  readonly #clock = createFakeClock();
  readonly #ledger = new Ledger();
  readonly #callers = new Callers(this.#ledger, this.#clock, () => this.#step);
  readonly #inner: TaskStore;
  readonly #store: FaultStore;
  readonly #around: Surroundings;
  readonly #census: Pick<Census, "crashes" | "expired" | "byState" | "byReason"> = {
    crashes: 0,
    expired: 0,
    byState: {},
    byReason: {},
  };
  #process: EngineProcess;
  #step = 0;
  #messages = 0;
  #keys = 0;
  #downMs = 0;
  #nextDoom: Doom | undefined;

  constructor(inner: TaskStore, { latency, limits }: Scenario) {
    this.#inner = inner;
    this.#store = createFaultStore(inner, this.#clock, this.#ledger, latency);
    let ids = 0;
    let runs = 0;
    this.#around = {
      clock: this.#clock,
      ledger: this.#ledger,
      store: this.#store,
      limits,
      randomId: () => `id-${++ids}`,
      nextRun: () => ++runs,
    };
    this.#process = new EngineProcess(this.#around, undefined);
  }

  /** Lives through a scenario. @throws Error saying after which action something was wrong */
  async live(actions: readonly Action[]): Promise<Census> {
    await this.#startProcess();
    for (const action of actions) {
      this.#step += 1;
      if (this.#process.harness === undefined) throw new Error("no process serves");
      await this.#act(action);
      if (!action.atOnce) await this.#settle(`action ${this.#step - 1} (${action.does})`);
    }
    await this.#settle("the last action");
    await this.#end();
    const logs = [...this.#ledger.logs.values()];
    return {
      ...this.#census,
      ...this.#ledger.counts,
      ...this.#callers.counts,
      tasks: logs.length,
      waitingForEver: logs.filter(({ state }) => !isFinal(state)).length,
    };
  }

  async #act(action: Action): Promise<void> {
    const callers = this.#callers;
    const process = this.#process;
    switch (action.does) {
      case "send": {
        const messageId = this.#prepare(action);
        const lifecycle = { skill: action.skill, ...this.#deadline(action) };
        const message = userMessage("go", { messageId, metadata: { [lifecycleExtension]: lifecycle } });
        const key = action.keyed ? `key-${++this.#keys}-0123456789abcdef` : undefined;
        return callers.send(process, { message, configuration: {} }, { messageId, how: action.how, key });
      }
      case "message": {
        const log = this.#pick(action.task);
        if (log === undefined) return;
        const messageId = this.#prepare(action);
        const deadline = this.#deadline(action);
        const metadata =
          Object.keys(deadline).length === 0 ? {} : { metadata: { [lifecycleExtension]: deadline } };
        const { taskId } = log;
        const message = userMessage(action.fits ? "fit" : "misfit", { messageId, taskId, ...metadata });
        const known = log.events.length - (action.match === "old" ? 1 : 0);
        const configuration = action.match === undefined ? {} : { ifGenerationMatch: BigInt(known) };
        const key = action.keyed ? `key-${++this.#keys}-0123456789abcdef` : undefined;
        return callers.send(process, { message, configuration }, { messageId, how: action.how, key });
      }
      case "repeat":
        return this.#repeat(action);
      case "cancel":
        return this.#with(action.task, (log) => callers.cancel(process, log));
      case "subscribe":
        return this.#with(action.task, (log) => callers.subscribe(process, log, action.from, action.draft));
      case "longPoll":
        return this.#with(action.task, (log) => {
          const known = log.events.length - (action.old ? 1 : 0);
          callers.longPoll(process, log, known);
        });
      case "hangUp": {
        const open = callers.all.filter(({ state }) => state === "open");
        const call = open[action.stream % Math.max(1, open.length)];
        return call === undefined ? undefined : callers.hangUp(call);
      }
      case "get":
        return this.#with(action.task, (log) => this.#askAsStranger(log));
      case "advance":
        // What cannot be written is tried again every second: nobody needs a week of that.
        return this.#clock.advance(
          this.#store.broken === undefined ? action.ms : Math.min(action.ms, 20_000),
        );
      case "crash":
        this.#downMs = action.downMs;
        this.#nextDoom = action.again ? { writes: action.writes + 1, when: action.when } : undefined;
        return action.writes === 0 ? process.kill() : process.doom(action);
      case "stop":
        return this.#stop(action.graceMs);
      case "switch":
        return process.harness?.server.skills[action.on ? "enable" : "disable"](action.skill);
      case "break":
        this.#store.broken = action.what;
        return;
      case "mend":
        this.#store.broken = undefined;
        return;
      case "steal":
        return this.#with(action.task, async (log) => {
          if (isFinal(log.state)) return;
          const claimed = await this.#inner.claim(log.owner, log.taskId);
          if (claimed !== undefined) this.#ledger.claimed(log.taskId, claimed);
          log.stolen = true;
        });
    }
  }

  /** Writes down what is to be done for a message. @returns its id */
  #prepare({ program }: Extract<Action, { does: "send" | "message" }>): string {
    const messageId = `m${++this.#messages}`;
    this.#ledger.programs.set(messageId, program);
    return messageId;
  }

  #deadline({ deadlineMs }: Extract<Action, { does: "send" | "message" }>): { readonly deadline?: string } {
    return deadlineMs === undefined
      ? {}
      : { deadline: new Date(this.#clock.now() + deadlineMs).toISOString() };
  }

  #repeat({ send, how, otherBody }: Extract<Action, { does: "repeat" }>): void {
    const keyed = this.#callers.sendings.filter(({ key }) => key !== undefined);
    const first = keyed[send % Math.max(1, keyed.length)];
    if (first === undefined) return;
    const messageId = otherBody ? `m${++this.#messages}` : first.messageId;
    const program = this.#ledger.programs.get(first.messageId);
    if (program !== undefined) this.#ledger.programs.set(messageId, program);
    const request = { ...first.request, message: { ...first.request.message, messageId } };
    this.#callers.send(this.#process, request, { messageId, how, key: first.key });
  }

  async #askAsStranger({ taskId }: TaskLog): Promise<void> {
    if (this.#store.broken !== undefined) return;
    const asked = this.#process.harness?.clientOf("stranger").getTask({ id: taskId });
    asked?.then(
      () => this.#ledger.complain(`${taskId}: a stranger may see it`),
      (error: unknown) => {
        const known =
          error instanceof ConnectError && (error.code === Code.NotFound || error.code === Code.Unavailable);
        if (!known) this.#ledger.complain(`${taskId}: a stranger is told ${error}`);
      },
    );
  }

  #pick(task: number): TaskLog | undefined {
    const logs = [...this.#ledger.logs.values()];
    return logs[logs.length - 1 - (task % Math.max(1, logs.length))];
  }

  #with(task: number, act: (log: TaskLog) => void | Promise<void>): void | Promise<void> {
    const log = this.#pick(task);
    return log === undefined ? undefined : act(log);
  }

  async #startProcess(): Promise<void> {
    this.#store.broken = undefined;
    for (;;) {
      const before = [...this.#ledger.logs.values()].filter(
        (log) => !isAsking(log.state) && !isFinal(log.state) && !waitsForPlace(log),
      );
      this.#process = new EngineProcess(this.#around, this.#nextDoom);
      this.#nextDoom = undefined;
      this.#process.start();
      await this.#clock.settle();
      if (!this.#process.alive) continue;
      if (this.#process.harness === undefined) throw new Error("the engine has not started");
      for (const { taskId, skill, state, reason } of before) {
        const isFailed = state === TaskState.FAILED && reason === "interrupted";
        if (failsWhenInterrupted(skill) && !isFailed) {
          this.#ledger.complain(
            `${taskId}: was interrupted, and is in state ${state} (${reason}) after a start`,
          );
        }
      }
      return;
    }
  }

  async #stop(graceMs: number): Promise<void> {
    let stopped = false;
    void this.#process.harness?.server.stop(graceMs).then(() => {
      stopped = true;
    });
    await this.#clock.settle();
    for (let round = 0; !stopped && this.#process.alive; round++) {
      if (round === maxStopRounds) throw new Error("the engine does not stop");
      await this.#clock.advance(1_000);
    }
    this.#process.kill();
  }

  async #settle(after: string): Promise<void> {
    await this.#clock.settle();
    while (!this.#process.alive) {
      this.#census.crashes += 1;
      this.#callers.lose(this.#process);
      await this.#clock.advance(this.#downMs);
      this.#downMs = 0;
      await this.#startProcess();
      await this.#clock.settle();
    }
    await this.#check();
    const [problem] = this.#ledger.violations;
    if (problem !== undefined)
      throw new Error(`after ${after}: ${this.#ledger.violations.slice(0, 5).join("\n")}`);
  }

  async #check(): Promise<void> {
    await this.#checkStore();
    this.#ledger.check();
    const isHealthy = this.#store.broken === undefined;
    this.#callers.check(isHealthy);
    this.#checkSendings();
    if (isHealthy) await this.#checkShown();
  }

  /** The store has what it said it has, and forgets nothing before its time. */
  async #checkStore(): Promise<void> {
    for (const log of [...this.#ledger.logs.values()]) {
      const { taskId, entries } = log;
      const stored = await this.#inner.find(owner, taskId, "full");
      if (stored === undefined) {
        const isDue = isFinal(log.state) && log.statusAt + retentionMs <= this.#clock.now();
        if (!isDue) this.#ledger.complain(`${taskId}: is gone before its time`);
        this.#ledger.logs.delete(taskId);
        this.#census.expired += 1;
        continue;
      }
      const page = await this.#inner.entries(owner, taskId, { sequence: 0, generation: 0 }, "all", 10_000);
      const same =
        page.entries.length === entries.length &&
        page.entries.every(({ payload, kind }, at) => {
          const other = entries[at];
          return other !== undefined && kind === other.kind && Buffer.compare(payload, other.payload) === 0;
        });
      if (!same && !page.more) this.#ledger.complain(`${taskId}: the store has another log than it took`);
      if (stored.tail.generation !== log.events.length || stored.index.state !== log.state) {
        this.#ledger.complain(`${taskId}: the index does not fit the log`);
      }
    }
  }

  /** GetTask and ListTasks say what the log adds up to. */
  async #checkShown(): Promise<void> {
    const client = this.#process.harness?.client;
    if (client === undefined) return;
    const headers = { [versionHeader]: "1.1" };
    const { tasks } = await client.listTasks({ pageSize: 100, includeArtifacts: true }, { headers });
    for (const log of this.#ledger.logs.values()) {
      const wanted = formatTask(foldLog(log.steps));
      const got = await client.getTask({ id: log.taskId }, { headers });
      const listed = tasks.find(({ id }) => id === log.taskId);
      if (formatTask(got) !== wanted) {
        this.#ledger.complain(`${log.taskId}: GetTask says ${formatTask(got)} for ${wanted}`);
      }
      if (listed === undefined || formatTask(listed) !== wanted) {
        this.#ledger.complain(`${log.taskId}: ListTasks says something else than the log`);
      }
      for (const { generation } of [got, listed ?? got]) {
        if (Number(generation) !== log.events.length) {
          this.#ledger.complain(
            `${log.taskId}: is shown at generation ${generation} of ${log.events.length}`,
          );
        }
      }
    }
    if (tasks.length !== this.#ledger.logs.size)
      this.#ledger.complain("ListTasks has more tasks than there are");
  }

  /** What was acknowledged is there, once and in order; what was refused is not. */
  #checkSendings(): void {
    const places = new Map<
      string,
      { readonly log: TaskLog; readonly at: number; readonly queued: boolean; readonly after: number }
    >();
    for (const log of this.#ledger.logs.values()) {
      const { history } = log.task;
      for (const { message, queued, after } of log.inputs) {
        const at = history.findIndex(({ messageId }) => messageId === message.messageId);
        places.set(message.messageId, { log, at, queued, after });
      }
    }
    const { sendings } = this.#callers;
    for (const sending of sendings) {
      const { messageId, taskId, acknowledgedAt, state, error } = sending;
      const place = places.get(messageId);
      if (acknowledgedAt !== undefined && taskId !== undefined && this.#ledger.logs.has(taskId)) {
        if (place?.log.taskId !== taskId || place.at === -1) {
          this.#ledger.complain(`${messageId}: was acknowledged and is not in the history of ${taskId}`);
        }
      }
      const known = sending.request.configuration.ifGenerationMatch;
      if (known !== undefined && place !== undefined && BigInt(place.after) !== known) {
        this.#ledger.complain(`${messageId}: was taken at generation ${place.after}, and is for ${known}`);
      }
      const isOnly = sendings.filter((other) => other.messageId === messageId).length === 1;
      if (
        isOnly &&
        state === "refused" &&
        acknowledgedAt === undefined &&
        place !== undefined &&
        !place.queued
      ) {
        this.#ledger.complain(`${messageId}: was refused (${error?.message}) and is in the log`);
      }
    }
    this.#checkOrder(places);
    this.#checkKeys();
  }

  #checkOrder(places: ReadonlyMap<string, { readonly log: TaskLog; readonly at: number }>): void {
    const acknowledged = this.#callers.sendings.filter(({ acknowledgedAt }) => acknowledgedAt !== undefined);
    for (const one of acknowledged) {
      for (const other of acknowledged) {
        const [first, second] = [places.get(one.messageId), places.get(other.messageId)];
        const isEarlier = (one.acknowledgedAt ?? 0) < other.sentAt && one.messageId !== other.messageId;
        const isFirstSending =
          this.#callers.sendings.find(({ messageId }) => messageId === other.messageId) === other;
        if (
          isEarlier &&
          isFirstSending &&
          first !== undefined &&
          first.log === second?.log &&
          first.at > second.at
        ) {
          this.#ledger.complain(
            `${one.messageId} was acknowledged before ${other.messageId} came, and is behind it`,
          );
        }
      }
    }
  }

  /** A key is one message, one task, one answer. */
  #checkKeys(): void {
    const byKey = Map.groupBy(
      this.#callers.sendings.filter(({ key }) => key !== undefined),
      ({ key }) => key,
    );
    for (const [key, sendings] of byKey) {
      const taken = sendings.filter(({ taskId }) => taskId !== undefined && this.#ledger.logs.has(taskId));
      const results = new Set(taken.map(({ taskId, messageId }) => `${taskId} ${messageId}`));
      if (results.size > 1) this.#ledger.complain(`${key} became ${[...results].join(" and ")}`);
      const first = taken.find(({ acknowledgedAt }) => acknowledgedAt !== undefined);
      for (const later of sendings) if (first !== undefined) this.#checkRepeat(first, later);
    }
  }

  #checkRepeat(first: Sending, later: Sending): void {
    if (
      later.sentAt <= (first.acknowledgedAt ?? 0) ||
      later.state !== "refused" ||
      later.acknowledgedAt !== undefined
    )
      return;
    const isConflict = later.messageId !== first.messageId;
    const hasConflict = later.error?.message.includes("another request") === true;
    if (isConflict !== hasConflict) {
      this.#ledger.complain(
        `${first.key}: a repeat by ${later.messageId} was refused: ${later.error?.message}`,
      );
    }
  }

  /** Every timer rings, everybody goes away, and then nothing is left that should not be. */
  async #end(): Promise<void> {
    this.#store.broken = undefined;
    this.#nextDoom = undefined;
    this.#process.kill();
    await this.#settle("the last start");
    await this.#clock.advance(dayMs / 2);
    await this.#settle("half a day");
    await this.#clock.advance(dayMs / 2);
    await this.#settle("a day");
    for (const log of this.#ledger.logs.values()) this.#checkOver(log);
    for (const call of this.#callers.all) this.#callers.hangUp(call);
    await this.#clock.settle();
    if (this.#process.alarms !== 0) this.#ledger.complain(`${this.#process.alarms} alarms are left`);
    for (const { taskId } of this.#ledger.logs.values()) {
      const before = this.#process.finds;
      await this.#process.harness?.client.getTask({ id: taskId });
      if (this.#process.finds === before) this.#ledger.complain(`${taskId}: is still held in memory`);
    }
    await this.#settle("the end");
  }

  #checkOver(log: TaskLog): void {
    const { taskId, skill, state, reason = "none" } = log;
    const { byState, byReason } = this.#census;
    byState[state] = (byState[state] ?? 0) + 1;
    byReason[reason] = (byReason[reason] ?? 0) + 1;
    const [first] = log.inputs;
    const program = this.#ledger.programs.get(first?.message.messageId ?? "");
    const takes =
      skill === "durable" || skill === "strict" ? program?.ops.some(({ does }) => does === "take") : false;
    const mayWait =
      log.waitsForEver ||
      (takes === true && state === TaskState.WORKING) ||
      (takes === true && state === TaskState.SUBMITTED);
    if (!isFinal(state) && !mayWait)
      this.#ledger.complain(`${taskId} (${skill}): is in state ${state} for ever`);
  }
}
