import { a2aError, type Priority } from "@a2a-connect/core";
import { Wakes } from "@a2a-connect/core/internal";
import type { ConnectError } from "@connectrpc/connect";
import type { AgentDefinition, CapacityDefinition } from "../../agent/agent-definition.ts";
import type { EngineContext } from "../engine-context.ts";
import { CallerOrder } from "./caller-order.ts";
import { CallerQueues, isBefore, type Permit, type Turn } from "./caller-queues.ts";
import type { SharedPlaces } from "./shared-places.ts";
import { Shares } from "./shares.ts";

/** A piece of work that may have to wait for its place. It has that place until `run` resolves. */
export interface Runnable {
  readonly priority: Priority;
  /** Whose places it takes besides the agent's; undefined: of no skill. */
  readonly skill: string | undefined;
  /** The caller whose part of the places it takes; undefined: not known, and not bounded. */
  readonly share: string | undefined;
  /** Whether it waits for memory by itself before it puts out anything, as what earlier runs began does: it needs no turn to begin. */
  readonly waitsForRoom?: boolean;
  /** Whether it was told to stop. Call `Scheduler.hurry` when that changes while it waits. */
  readonly isStopping?: boolean;
  /** It has to wait although `start` has returned `running`. @returns whether it can: not when its task has ended meanwhile */
  putOff?(): boolean;
  /**
   * Must not reject: its error would only be logged.
   *
   * @param onBegun called when the agent's code has been called
   */
  run(onBegun?: () => void): Promise<void>;
}

/** What became of work that asked for a place; `refused`: as much is waiting as its skill or its agent allows. */
export type StartResult = "running" | "queued" | "refused";

/** What it needs of the engine. */
type Parts = Pick<EngineContext, "agent" | "limits" | "log" | "beginTurns" | "places"> & {
  readonly clock: Pick<EngineContext["clock"], "now" | "nextTurn" | "ticks">;
};

/** Executions that begin in one turn of the event loop, at most: the code of each works at once. */
const maxBeginsInATurn = 64;

/** One skill's work. */
interface Lane {
  readonly slots: Slots;
  readonly queue: CallerQueues<Runnable>;
}

/**
 * Lets a bounded number of executions run at a time, of the agent and of each skill. Callers whose work waits take turns;
 * one caller's work is in the order of its priorities, then of its age, behind what is to stop (docs/limits.md). A skill or a caller at its limit
 * holds up no other.
 */
export class Scheduler {
  #agent: AgentDefinition;
  readonly #limits: Pick<EngineContext["limits"], "maxQueued" | "maxShare">;
  readonly #clock: Pick<EngineContext["clock"], "now">;
  readonly #log: EngineContext["log"];
  readonly #all: Slots;
  /** One for each skill that has been asked for; as many as the card has, or has had, at most. */
  readonly #lanes = new Map<string | undefined, Lane>();
  /** Those of them with work that waits, and a place for it. */
  readonly #openLanes = new Set<Lane>();
  readonly #order = new CallerOrder();
  /** Of each caller whose work waits: how much does, and how much of it waits for memory by itself. */
  readonly #waitingOf = new Map<string | undefined, { works: number; begun: number }>();
  /** Of the work that waits, what was promised already. It has no waiting slot: one caller's answers would take those of others. */
  readonly #promised = new Set<Runnable>();
  readonly #begins: EngineContext["beginTurns"];
  readonly #places: SharedPlaces | undefined;
  /** Its own: an agent whose code works long as it begins would hold the places of other agents. */
  readonly #pace: Pick<Wakes, "turn">;
  /** The callers whose next work waits for its turn to begin. */
  readonly #awaited = new Set<string | undefined>();
  #isBeginning = false;
  /** Ends the wait for memory of a caller whose work waits. */
  #unwatch: (() => void) | undefined;
  #tickets = 0;

  constructor(
    { agent, limits, clock, log, beginTurns, places }: Parts,
    pace: Pick<Wakes, "turn"> = new Wakes(clock, maxBeginsInATurn),
  ) {
    this.#agent = agent;
    this.#limits = limits;
    this.#clock = clock;
    this.#log = log;
    this.#begins = beginTurns;
    this.#pace = pace;
    this.#places = places;
    this.#all = new Slots(agent, limits.maxShare, limits, places);
  }

  /** The skills may have other capacities from now on. Work of one that is gone keeps the limits that it had. */
  useCard(agent: AgentDefinition): void {
    this.#agent = agent;
    for (const [skill, lane] of this.#lanes) {
      const definition = this.#definitionOf(skill);
      if (definition !== undefined) {
        lane.slots.limit(definition);
        this.#noteOpen(lane);
      }
    }
    this.#runWaiting(); // where more may run than before
  }

  /**
   * Runs `work` now, or when a place becomes free.
   *
   * @param admission `always` for work that was promised already: it waits even where the queue is full, and its task's memory is its
   *   only bound
   * @throws ConnectError CAPACITY when the queue of this process is full, or the caller's part of it
   */
  start(work: Runnable, admission: "bounded" | "always" = "bounded"): StartResult {
    const lane = this.#laneOf(work.skill);
    const result = this.#decide(lane.slots, work, admission);
    if (result === "refused") {
      return result;
    }
    this.#order.enter(work.share);
    if (result === "running") {
      this.#take(work, lane);
      const turn = this.#pace.turn(work.share);
      if (turn === undefined) this.#run(work, lane);
      else void turn.then(() => this.#runOrWait(work, lane));
    } else {
      if (admission === "always") this.#promised.add(work);
      this.#queue(work);
    }
    return result;
  }

  /** For work that is to be known to others before it is started. @throws ConnectError CAPACITY when `start` would */
  assertRoom(work: Pick<Runnable, "skill" | "share">): void {
    this.#decide(this.#laneOf(work.skill).slots, work, "bounded");
  }

  /** Takes waiting work out of the queue; false when it runs or is done. */
  withdraw(work: Runnable): boolean {
    const isWaiting = this.#takeOut(work);
    if (isWaiting) {
      this.#order.leave(work.share);
    }
    return isWaiting;
  }

  /** The work was told to stop: if it waits, it comes before the other work of its caller. It does not have long to clean up. */
  hurry(work: Runnable): void {
    this.#laneOf(work.skill).queue.hurry(work);
  }

  /** When work of this skill that was refused is worth another try, in seconds (docs/extensions/lifecycle.md). */
  retryAfterSeconds(skill: string | undefined): number {
    const { slots } = this.#laneOf(skill);
    const full = slots.isFull ? slots : this.#all;
    return full.runTime.retryAfterSeconds(full.waiting, Math.min(full.maxRunning, this.#all.maxRunning));
  }

  #decide(
    slots: Slots,
    { share, waitsForRoom }: Pick<Runnable, "share" | "waitsForRoom">,
    admission: "bounded" | "always",
  ): StartResult {
    if (this.#hasPlace(slots, share) && (waitsForRoom || this.#begins.may(share))) {
      return "running";
    }
    if (admission === "always") {
      return "queued";
    }
    if (slots.isFull || this.#all.isFull) {
      return "refused";
    }
    const { maxQueued } = this.#limits;
    if (this.#all.queued >= maxQueued) {
      throw this.#capacityError(`${maxQueued} tasks are waiting already`);
    }
    if (!slots.mayWait(share) || !this.#all.mayWait(share)) {
      throw this.#capacityError(
        "your own share of the places is used up, and the others are kept for other callers",
      );
    }
    return "queued";
  }

  #capacityError(sentence: string): ConnectError {
    const { runTime, waiting, maxRunning } = this.#all;
    const retryAfterSeconds = runTime.retryAfterSeconds(waiting, maxRunning);
    return a2aError("CAPACITY", `${sentence}; try again in ${retryAfterSeconds} seconds or later`, {
      retryAfterSeconds: String(retryAfterSeconds),
    });
  }

  /** @returns whether it was waiting */
  #takeOut(work: Runnable): boolean {
    const lane = this.#laneOf(work.skill);
    const isWaiting = lane.queue.delete(work);
    if (isWaiting) {
      this.#countWaiting(work, lane, -1);
      this.#promised.delete(work);
      if (this.#all.waiting === 0) this.#stopWaiting(); // at once: a free place goes round among those that wait
    }
    return isWaiting;
  }

  #countWaiting(work: Runnable, lane: Lane, change: 1 | -1): void {
    for (const each of [lane.slots, this.#all]) {
      each.countWaiting(change);
      if (!this.#promised.has(work)) each.countQueued(work.share, change);
    }
    const { works, begun } = this.#waitingOf.get(work.share) ?? { works: 0, begun: 0 };
    const counts = { works: works + change, begun: begun + (work.waitsForRoom ? change : 0) };
    if (counts.works === 0) this.#waitingOf.delete(work.share);
    else this.#waitingOf.set(work.share, counts);
    this.#noteOpen(lane);
  }

  #noteOpen(lane: Lane): void {
    if (lane.slots.waiting > 0 && lane.slots.hasFree) this.#openLanes.add(lane);
    else this.#openLanes.delete(lane);
  }

  #laneOf(skill: string | undefined): Lane {
    let lane = this.#lanes.get(skill);
    if (lane === undefined) {
      const slots = new Slots(this.#definitionOf(skill) ?? {}, this.#limits.maxShare);
      lane = { slots, queue: new CallerQueues(this.#order) };
      this.#lanes.set(skill, lane);
    }
    return lane;
  }

  #definitionOf(skill: string | undefined): CapacityDefinition | undefined {
    return this.#agent.card.skills?.find(({ id }) => id === skill);
  }

  #hasPlace(slots: Slots, share: string | undefined): boolean {
    return slots.mayRun(share) && this.#all.mayRun(share);
  }

  #queue(work: Runnable): void {
    const lane = this.#laneOf(work.skill);
    lane.queue.add(work, ++this.#tickets);
    this.#countWaiting(work, lane, 1);
    this.#unwatch ??= this.#begins.watch(() => this.#runWaiting());
    this.#places?.enter(this);
  }

  /** The work gets a place. The other work of its caller waits behind that of other callers now. */
  #take(work: Runnable, lane: Lane): void {
    this.#countRunning(work, lane, 1);
    this.#order.serve(work.share);
  }

  #countRunning(work: Runnable, lane: Lane, change: 1 | -1): void {
    for (const each of [lane.slots, this.#all]) each.countRunning(work.share, change);
    this.#noteOpen(lane);
  }

  /** Others of the caller have begun meanwhile, and what they have made may have taken its part of the memory. */
  #runOrWait(work: Runnable, lane: Lane): void {
    if (work.waitsForRoom || this.#begins.may(work.share) || work.putOff?.() === false) {
      this.#run(work, lane);
      return;
    }
    this.#countRunning(work, lane, -1);
    this.#promised.add(work);
    this.#queue(work);
    this.#runWaiting();
  }

  /** @param onBegun called when its code has been called, or never will be */
  #run(work: Runnable, lane: Lane, onBegun: () => void = () => {}): void {
    const beganAt = this.#clock.now();
    const endTurn = work.waitsForRoom ? () => {} : this.#begins.begin(work.share);
    const end = (): void => {
      this.#countRunning(work, lane, -1);
      for (const each of [lane.slots, this.#all]) each.runTime.note(this.#clock.now() - beganAt);
      this.#order.leave(work.share);
      onBegun();
      endTurn();
      this.#runWaiting();
    };
    work.run(onBegun).then(end, (error: unknown) => {
      this.#log({ level: "error", message: "an execution broke off", error });
      end();
    });
  }

  /**
   * A place has become free, or memory. More than one task may then begin, since a share grows with the number of free places, and may
   * grow by several. They begin a few at a time: what one puts out at once may take the memory.
   *
   * @returns whether any has begun
   */
  #runWaiting(): boolean {
    this.#places?.serve();
    let hasBegun = false;
    while (this.beginNext()) hasBegun = true;
    return hasBegun;
  }

  /** Begins the next work that waits and may begin, now or in its turn. @returns whether there is any */
  beginNext(): boolean {
    if (this.#isBeginning) return false; // code that begins may make room for the next
    const next = this.#findNext();
    if (next === undefined) return false;
    const { share } = next;
    this.#isBeginning = true;
    const turn = this.#pace.turn(share);
    if (turn === undefined) {
      this.#runNext(next);
    } else {
      this.#awaited.add(share); // others go on meanwhile
      void turn.then(() => this.#runNextOf(share));
    }
    this.#isBeginning = false;
    return true;
  }

  #stopWaiting(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#places?.leave(this);
  }

  #runNextOf(share: string | undefined): void {
    this.#awaited.delete(share);
    const next = this.#findNextOf(share);
    if (next !== undefined) this.#runNext(next);
    this.#runWaiting();
  }

  #runNext(work: Runnable): void {
    const lane = this.#laneOf(work.skill);
    this.#takeOut(work);
    this.#take(work, lane);
    this.#run(work, lane, work.waitsForRoom ? undefined : this.#begins.prepare(work.share, this));
  }

  /** It asks about each caller once, however many skills the caller's work is of, and looks at no skill when no caller may begin. */
  #findNext(): Runnable | undefined {
    if (!this.#all.hasFree) return undefined;
    const permits = new Map<string | undefined, Permit>();
    const permitOf = (share: string | undefined): Permit => {
      const permit = permits.get(share) ?? this.#permitOf(share);
      permits.set(share, permit);
      return permit;
    };
    for (const share of this.#waitingOf.keys()) {
      if (permitOf(share) === "none") continue;
      return this.#findFirst(({ slots, queue }) =>
        queue.findTurn((caller) => (slots.mayRun(caller) ? permitOf(caller) : "none")),
      );
    }
    return undefined; // as for most of those that end in one turn: the first ones have begun what may begin
  }

  #findNextOf(share: string | undefined): Runnable | undefined {
    const permit = this.#permitOf(share);
    if (permit === "none") return undefined;
    return this.#findFirst(({ slots, queue }) =>
      slots.mayRun(share) ? queue.turnOf(share, permit) : undefined,
    );
  }

  #findFirst(findTurn: (lane: Lane) => Turn<Runnable> | undefined): Runnable | undefined {
    let best: Turn<Runnable> | undefined;
    for (const lane of this.#openLanes) {
      const turn = findTurn(lane);
      if (turn !== undefined && (best === undefined || isBefore(turn, best))) best = turn;
    }
    return best?.first.work;
  }

  /** What of the caller's work may begin where its skill has a place. */
  #permitOf(share: string | undefined): Permit {
    const waiting = this.#waitingOf.get(share);
    if (waiting === undefined || this.#awaited.has(share) || !this.#all.mayRun(share)) return "none";
    if (this.#begins.mayPrepare(share, this) && this.#begins.may(share)) return "all";
    return waiting.begun > 0 ? "begun" : "none";
  }
}

/** The running and the waiting work under one limit, and each caller's part of it: of one skill, or all of an agent's. */
class Slots {
  readonly #most: CapacityDefinition;
  readonly #places: SharedPlaces | undefined;
  readonly #runningOf: Shares;
  readonly #queuedOf: Shares;
  /** How many of the common places each caller has here, and all. */
  readonly #commonOf = new Map<string | undefined, number>();
  #common = 0;
  #maxRunning = 0;
  #maxQueued = 0;
  readonly runTime: RunTime = new RunTime();
  /** Without those that have common places. */
  #running = 0;
  #waiting = 0;
  /** Of these, the work that has a waiting slot. */
  #queued = 0;

  /**
   * @param maxShare the part of the places that one caller may have
   * @param most what no definition exceeds
   * @param places what the agent has together with others; undefined: its capacity is for itself alone
   */
  constructor(
    capacity: CapacityDefinition,
    maxShare: number,
    most: CapacityDefinition = {},
    places?: SharedPlaces,
  ) {
    this.#most = most;
    this.#places = places;
    this.#runningOf = new Shares(maxShare);
    this.#queuedOf = new Shares(maxShare);
    this.limit(capacity);
  }

  /** Sets other limits. Running and waiting work stays. */
  limit({ maxRunning, maxQueued }: CapacityDefinition): void {
    const most = this.#most.maxRunning ?? Number.POSITIVE_INFINITY;
    this.#maxRunning = Math.min(maxRunning ?? most, most);
    this.#maxQueued = maxQueued ?? Number.POSITIVE_INFINITY;
  }

  /** How many may run at a time, as things stand: what others take of the common places is theirs. */
  get maxRunning(): number {
    return this.#own + this.#common + (this.#places?.free ?? 0);
  }

  /** How many are for this alone. */
  get #own(): number {
    return this.#places?.own ?? this.#maxRunning;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get queued(): number {
    return this.#queued;
  }

  get hasFree(): boolean {
    return this.#running < this.#own || (this.#places?.free ?? 0) > 0;
  }

  /** Whether as much waits as the definition allows. */
  get isFull(): boolean {
    return this.#queued >= this.#maxQueued;
  }

  /** Whether there is a place for this caller. */
  mayRun(share: string | undefined): boolean {
    return this.#mayTakeOwn(share) || this.#places?.mayTake(share) === true;
  }

  #mayTakeOwn(share: string | undefined): boolean {
    return this.#runningOf.mayTake(share, { all: this.#own, taken: this.#running });
  }

  /** Whether there is room in the queue for this caller. */
  mayWait(share: string | undefined): boolean {
    const all = Math.min(this.#maxQueued, this.#most.maxQueued ?? Number.POSITIVE_INFINITY);
    return this.#queuedOf.mayTake(share, { all, taken: this.#queued });
  }

  /** A common place is taken last, and given back first: other agents may want it. */
  countRunning(share: string | undefined, change: 1 | -1): void {
    const common = this.#commonOf.get(share) ?? 0;
    const isCommon = change < 0 ? common > 0 : !this.#mayTakeOwn(share);
    if (this.#places !== undefined && isCommon) {
      this.#places.count(share, change);
      this.#common += change;
      if (common + change === 0) this.#commonOf.delete(share);
      else this.#commonOf.set(share, common + change);
    } else {
      this.#running += change;
      this.#runningOf.count(share, change);
    }
  }

  countWaiting(change: 1 | -1): void {
    this.#waiting += change;
  }

  countQueued(share: string | undefined, change: 1 | -1): void {
    this.#queued += change;
    this.#queuedOf.count(share, change);
  }
}

/** The weight of the newest run: after ten runs of another length the average has mostly adapted. */
const weight = 0.2;

/** Assumed before any run has ended. */
const assumedMs = 1_000;

/** The longest that a caller is told to wait before it tries again. */
const maxRetrySeconds = 3_600;

/** How long recent runs took: a moving average. */
export class RunTime {
  #averageMs: number | undefined;

  /** A run has ended. If the clock was set back meanwhile, it counts as a short one. */
  note(elapsedMs: number): void {
    const ms = Math.max(0, elapsedMs);
    this.#averageMs = this.#averageMs === undefined ? ms : this.#averageMs + weight * (ms - this.#averageMs);
  }

  /**
   * An estimate of when work behind `waiting` others would begin, if `places` of them run at a time: in whole seconds,
   * from 1 to 3,600 (docs/extensions/lifecycle.md).
   */
  retryAfterSeconds(waiting: number, places: number): number {
    const ms = ((this.#averageMs ?? assumedMs) * (waiting + 1)) / places;
    return Math.min(maxRetrySeconds, Math.max(1, Math.ceil(ms / 1_000)));
  }
}
