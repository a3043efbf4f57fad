import type { Journal } from "./journal.ts";
import type { JournalCodec, JournalRecord } from "./journal-codec.ts";
import { JournalError } from "./journal-error.ts";
import type { LiveTask } from "./live-task.ts";

/** Bounds of a journal. */
export interface JournalLimits {
  /** Bytes of one record. */
  readonly maxStepBytes: number;
  /** Bytes of all records of a task. */
  readonly maxTaskBytes: number;
}

/** A task's journal while its executor runs: what it has done before, and where new results go. */
export class JournalSession {
  readonly #live: LiveTask;
  readonly #codec: JournalCodec;
  readonly #limits: JournalLimits;
  readonly #records: Map<string, JournalRecord>;
  readonly #unclaimed: Set<string>;
  /** How often each name was used in this run. */
  readonly #uses = new Map<string, number>();
  #bytes: number;

  constructor(live: LiveTask, journal: Journal, codec: JournalCodec, limits: JournalLimits) {
    this.#live = live;
    this.#codec = codec;
    this.#limits = limits;
    this.#records = new Map(journal.records);
    this.#unclaimed = new Set(journal.records.keys());
    this.#bytes = journal.bytes;
  }

  /** Names the next operation of this kind: the same in every run, as long as the executor asks in the same order. */
  next(name: string): string {
    const use = (this.#uses.get(name) ?? 0) + 1;
    this.#uses.set(name, use);
    return `${name}#${use}`;
  }

  /** What an earlier run stored for the operation. */
  find(op: string): JournalRecord | undefined {
    this.#unclaimed.delete(op);
    return this.#records.get(op);
  }

  /**
   * Puts a record into the log; it is durable with the next `live.flushed()`, and before everything emitted after it.
   *
   * @throws JournalError when it cannot be stored
   */
  write(record: JournalRecord): void {
    const payload = this.#codec.encode(record);
    if (payload.length > this.#limits.maxStepBytes) {
      throw new JournalError(
        `what ${record.op} gave takes ${payload.length} bytes; at most ${this.#limits.maxStepBytes} can be stored`,
      );
    }
    if (this.#bytes + payload.length > this.#limits.maxTaskBytes) {
      throw new JournalError(`the journal of this task would exceed ${this.#limits.maxTaskBytes} bytes`);
    }
    this.#bytes += payload.length;
    this.#live.record(payload);
  }

  /** An operation that an earlier run did and this one has not asked for. */
  get unclaimed(): string | undefined {
    return [...this.#unclaimed][0];
  }
}
