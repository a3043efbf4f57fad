import type { AgentDefinition } from "./agent-definition.ts";

/** How many definitions are kept. A task of one that is older is run by the oldest of these (`isForgotten`). */
const maxDefinitions = 1_000;

interface Edition {
  readonly agent: AgentDefinition;
  /** The first moment at which tasks were created under it, milliseconds since 1970. */
  readonly since: number;
}

/**
 * The definitions that an agent has had in this process. A task is run to its end by the one it was created under; after a
 * restart, by the one that there is.
 *
 * The time of its creation tells which that was, so nothing has to be kept for each task. No two definitions share a
 * moment: `creationTime` moves tasks that would be in the wrong one, into the future when the machine's clock was set back
 * behind the newest definition.
 */
export class AgentHistory {
  /** Oldest first; never empty. */
  readonly #editions: [Edition, ...Edition[]];

  constructor(agent: AgentDefinition) {
    this.#editions = [{ agent, since: Number.NEGATIVE_INFINITY }];
  }

  /** What new tasks are run by. */
  get current(): AgentDefinition {
    return this.#newest.agent;
  }

  /** What new tasks are run by from now on. It must be another object than every one before. */
  redefine(agent: AgentDefinition, now: number): void {
    this.#editions.push({ agent, since: Math.max(Math.ceil(now), this.#newest.since) + 1 });
    if (this.#editions.length > maxDefinitions) {
      this.#editions.shift();
    }
  }

  /** When a task of this definition counts as created if it is created now: while the definition was the current one. */
  creationTime(agent: AgentDefinition, now: number): number {
    const index = this.#editions.findIndex((edition) => edition.agent === agent);
    const since = this.#editions[index]?.since ?? Number.NEGATIVE_INFINITY;
    const until = this.#editions[index + 1]?.since ?? Number.POSITIVE_INFINITY;
    return Math.max(since, Math.min(now, until - 1));
  }

  /** The definition that a task was created under. */
  createdAt(time: number): AgentDefinition {
    return (this.#editions.findLast(({ since }) => since <= time) ?? this.#editions[0]).agent;
  }

  /** The same when all that is known is that it was not created later; undefined when that does not tell. */
  createdBy(time: number): AgentDefinition | undefined {
    const [oldest, second] = this.#editions;
    if (second === undefined) {
      return oldest.agent;
    }
    return time < second.since && !this.#forgets ? oldest.agent : undefined;
  }

  /** Whether the definition that a task was created under is not kept any more, so that `createdAt` gives another. */
  isForgotten(time: number): boolean {
    return time < this.#editions[0].since;
  }

  get #forgets(): boolean {
    return this.isForgotten(Number.NEGATIVE_INFINITY);
  }

  get #newest(): Edition {
    return this.#editions.at(-1) ?? this.#editions[0];
  }
}
