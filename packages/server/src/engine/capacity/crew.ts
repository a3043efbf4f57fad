import type { CapacityDefinition } from "../../agent/agent-definition.ts";
import { RunTime } from "./run-time.ts";

/** Those who run and wait under the same limits: of one skill, or all of an agent's. */
export class Crew {
  readonly maxRunning: number;
  readonly maxQueued: number;
  readonly runTime: RunTime = new RunTime();
  running = 0;
  waiting = 0;

  /** @param most the bound on running ones that no definition exceeds */
  constructor({ maxRunning, maxQueued }: CapacityDefinition, most: number = Number.POSITIVE_INFINITY) {
    this.maxRunning = Math.min(maxRunning ?? most, most);
    this.maxQueued = maxQueued ?? Number.POSITIVE_INFINITY;
  }

  get hasPlace(): boolean {
    return this.running < this.maxRunning;
  }

  get isFull(): boolean {
    return this.waiting >= this.maxQueued;
  }
}
