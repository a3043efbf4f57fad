import type { Clock } from "../clock.ts";
import type { LiveTask } from "../live-task.ts";
import type { Journal, LoggedRecord } from "./journal.ts";
import { isResult, type JournalCodec, type JournalRecord, type OperationResult } from "./journal-codec.ts";
import { JournalError } from "./journal-error.ts";
import { weighRemembered } from "./record-weight.ts";
import { ResultOrder } from "./result-order.ts";

/** Limits of a journal. */
export interface JournalLimits {
  /** Bytes of one record. */
  readonly maxStepBytes: number;
  /** Bytes of all records of a task, and what they take in memory. */
  readonly maxTaskBytes: number;
}

/** What is needed to open a task's journal. */
export interface JournalOptions {
  readonly live: LiveTask;
  readonly journal: Journal;
  /** How many events the executor emitted before. */
  readonly emissions: number;
  readonly codec: JournalCodec;
  readonly limits: JournalLimits;
  readonly clock: Pick<Clock, "now" | "schedule" | "nextTurn">;
  /** Resolves when the executor may get another result: the code behind it may begin thousands of steps. */
  readonly untilRoom: () => Promise<void> | undefined;
  /** Whether an earlier run of the executor has begun. */
  readonly isRerun: boolean;
  /** Called when the executor does not repeat its earlier work. */
  readonly onStuck: (detail: string) => void;
  /** Called when the journal has no room for what the executor has begun, or for how that ended. */
  readonly onFull: (error: JournalError) => void;
}

/** A result in the log. */
export type StoredResult = OperationResult & { readonly sequence: number };

/** A task's journal while its executor runs: the results of earlier runs, and where new results are stored. */
export class JournalSession {
  /** When results are given to the executor. */
  readonly order: ResultOrder;
  readonly #live: LiveTask;
  readonly #codec: JournalCodec;
  readonly #limits: JournalLimits;
  readonly #records: ReadonlyMap<string, LoggedRecord>;
  readonly #unclaimed: Set<string>;
  /** How often this run has used each name. */
  readonly #uses = new Map<string, number>();
  readonly #clock: Pick<Clock, "now">;
  readonly #onFull: (error: JournalError) => void;
  #bytes: number;
  #memory: number;
  #resumedAt: number | undefined;

  constructor(options: JournalOptions) {
    const { live, journal, emissions, codec, limits, clock, untilRoom, isRerun, onStuck, onFull } = options;
    this.#live = live;
    this.#clock = clock;
    this.#onFull = onFull;
    this.#resumedAt = isRerun ? clock.now() : undefined;
    this.#codec = codec;
    this.#limits = limits;
    this.#records = journal.records;
    this.#unclaimed = new Set(journal.records.keys());
    this.#bytes = journal.bytes;
    this.#memory = journal.recordMemory;
    const { stop } = journal;
    const results = [...journal.records.values()].filter((record) => isResult(record));
    const nextTurn = async (): Promise<void> => {
      await clock.nextTurn();
      await untilRoom();
    };
    this.order = new ResultOrder(
      { schedule: (...timer) => clock.schedule(...timer), nextTurn },
      {
        results: [...results, ...(stop === undefined ? [] : [{ op: "the stop", ...stop }])].sort(
          (one, other) => one.sequence - other.sequence,
        ),
        emissions,
        sequence: live.accepted.sequence,
      },
      onStuck,
    );
  }

  /** Names the next operation of this kind: the same in every run, as long as the executor asks in the same order. */
  next(name: string): string {
    const use = (this.#uses.get(name) ?? 0) + 1;
    this.#uses.set(name, use);
    return `${name}#${use}`;
  }

  /** The record of an earlier run for the operation. */
  find(op: string): LoggedRecord | undefined {
    this.#unclaimed.delete(op);
    return this.#records.get(op);
  }

  /**
   * Adds a record to the log. It is durable with the next `live.flushed()`, and before everything emitted after it.
   *
   * @param tookMs how long the attempt at a step took
   * @throws JournalError when it cannot be stored: the task has ended then
   */
  note(record: JournalRecord, tookMs?: number): void {
    this.#store(() => this.#append(this.#encode(record, tookMs)));
  }

  /** Adds what a call that returns at once has returned, as `note` does. @throws JournalError when it cannot be stored */
  remember(op: string, value: unknown): void {
    const payload = this.#encode({ op, kind: "remembered", value }, undefined);
    this.#countMemory(weighRemembered(op));
    this.#append(payload);
  }

  /**
   * Adds an operation's result to the log.
   *
   * @param tookMs how long the attempt at a step took
   * @returns the result, which `order` gives to the executor
   * @throws JournalError when it cannot be stored: the task has ended then
   */
  conclude(result: OperationResult, tookMs?: number): StoredResult {
    return this.#store(() => this.tryConclude(result, tookMs));
  }

  /**
   * The same, where another result may be stored instead. A `value` is returned as it was stored, because the executor must get the
   * same value in every run.
   *
   * @throws JournalError when it cannot be stored
   */
  tryConclude(result: OperationResult, tookMs?: number): StoredResult {
    const payload = this.#encode(result, tookMs);
    const stored = result.kind === "value" ? this.#decodeResult(payload) : result;
    const sequence = this.#append(payload);
    this.order.add(result.op, sequence);
    return { ...stored, sequence };
  }

  /** An operation of an earlier run that this run has not asked for. */
  get unclaimed(): string | undefined {
    for (const op of this.#unclaimed) return op;
    return undefined;
  }

  /** Whether there is work of earlier runs that this run has not asked for, or not been given. */
  get isRepeating(): boolean {
    return this.#unclaimed.size > 0 || !this.order.isCaughtUp;
  }

  /** A later run could not know what is not stored: the executor must not go on. */
  #store<Result>(store: () => Result): Result {
    try {
      return store();
    } catch (error) {
      if (error instanceof JournalError) this.#onFull(error);
      throw error;
    }
  }

  #encode(record: JournalRecord, tookMs: number | undefined): Uint8Array {
    const { maxStepBytes, maxTaskBytes } = this.#limits;
    const resumedAt = this.#resumedAt;
    const timed = {
      ...record,
      at: this.#clock.now(),
      ...(tookMs === undefined ? undefined : { tookMs }),
      ...(resumedAt === undefined ? undefined : { resumedAt }),
    };
    const payload = this.#codec.encode(timed, maxStepBytes);
    if (this.#bytes + payload.length > maxTaskBytes) {
      throw new JournalError(`the journal of this task would exceed ${maxTaskBytes} bytes`);
    }
    if (record.kind === "value" && this.#live.isStoreExceeded) {
      throw new JournalError(
        `there is no room for the result of ${record.op}: the tasks of the caller have stored most of it`,
      );
    }
    return payload;
  }

  #decodeResult(payload: Uint8Array): OperationResult {
    let memory = 0;
    const result = this.#codec.decode(payload, (bytes) => {
      memory += bytes;
    });
    this.#countMemory(memory);
    return result as OperationResult; // it was one
  }

  /** @throws JournalError when a later run would take too much memory with it */
  #countMemory(bytes: number): void {
    const { maxTaskBytes } = this.#limits;
    if (this.#memory + bytes > maxTaskBytes) {
      throw new JournalError(`the journal of this task would take more than ${maxTaskBytes} bytes of memory`);
    }
    this.#memory += bytes;
  }

  #append(payload: Uint8Array): number {
    this.#bytes += payload.length;
    this.#resumedAt = undefined;
    return this.#live.record(payload);
  }
}
