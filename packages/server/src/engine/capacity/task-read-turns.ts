import { type Reader, ReadTurns, type TurnOptions } from "@a2a-connect/core/internal";
import type { TaskRef, TaskStore } from "../../store/task-store.ts";

/** Up to so many bytes a task is small. Where its events are small, it is decoded in about five slices. */
const smallBytes = 64 * 1024;

/** Reads of tasks at a time; and short reads at a time, besides. */
const places = 4;

/**
 * Lets few tasks be read at a time. A large one may take seconds beside others. It keeps its place until all of it is read, because what
 * was read of it stays in memory. Small tasks do not wait for that: where no place is free, they take one of those for short reads.
 */
export class TaskReadTurns {
  /** For tasks of any size. */
  readonly any: Pick<ReadTurns, "run" | "hasPlace">;
  /** For what is read in one step, such as the weight of a task. */
  readonly short: Pick<ReadTurns, "run">;
  readonly #store: Pick<TaskStore, "weigh">;

  constructor(store: Pick<TaskStore, "weigh">, options: Pick<TurnOptions, "pace"> = {}) {
    this.#store = store;
    this.any = new ReadTurns(places, options);
    this.short = new ReadTurns(places, options);
  }

  /**
   * Reads a task, or a part of it. Only where it would have to wait, its weight is looked up first.
   *
   * @throws as `ReadTurns.run`
   */
  async read<Result>(
    { owner, taskId }: TaskRef,
    reader: Reader,
    read: () => Promise<Result>,
  ): Promise<Result> {
    if (this.any.hasPlace(reader.share)) return this.any.run(reader, read);
    const small = await this.short.run(reader, async () => {
      const weight = await this.#store.weigh(owner, taskId);
      return weight !== undefined && weight.bytes > smallBytes ? undefined : { result: await read() };
    });
    return small === undefined ? this.any.run(reader, read) : small.result;
  }
}
