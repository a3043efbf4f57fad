import type { CapacityDefinition } from "../../agent/agent-definition.ts";
import { RunTime } from "./run-time.ts";

/** The running and the waiting work under one limit: of one skill, or all of an agent's. */
export class Slots {
  readonly #most: number;
  #maxRunning = 0;
  #maxQueued = 0;
  readonly runTime: RunTime = new RunTime();
  running = 0;
  waiting = 0;

  /** @param most the limit on running work that no definition exceeds */
  constructor(capacity: CapacityDefinition, most: number = Number.POSITIVE_INFINITY) {
    this.#most = most;
    this.limit(capacity);
  }

  /** Sets other limits. Running and waiting work stays. */
  limit({ maxRunning, maxQueued }: CapacityDefinition): void {
    this.#maxRunning = Math.min(maxRunning ?? this.#most, this.#most);
    this.#maxQueued = maxQueued ?? Number.POSITIVE_INFINITY;
  }

  get maxRunning(): number {
    return this.#maxRunning;
  }

  get maxQueued(): number {
    return this.#maxQueued;
  }

  get hasFree(): boolean {
    return this.running < this.maxRunning;
  }

  get isFull(): boolean {
    return this.waiting >= this.#maxQueued;
  }
}
