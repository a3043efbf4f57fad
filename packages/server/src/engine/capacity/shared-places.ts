import { Shares } from "./shares.ts";

/** An agent whose work waits for a place. */
interface WaitingAgent {
  /** Begins the next of its work that may begin. @returns whether there was one */
  beginNext(): boolean;
}

/** The part of all places that the agents have for themselves, divided among them, and how many each has at least. */
const ownPart = 1 / 4;
const leastOwn = 4;

/** However many agents there are, so much of all is common. */
const commonPart = 1 / 2;

/**
 * The places of agents of one process whose operator has set no number: each with as many as one may have could take more memory than
 * there is. An agent that is alone has all. Otherwise each has some of its own, which no other agent takes: the agents that have the
 * rest may wait for this one. The rest is for those that have work, in turn; one caller may have its part of it over all agents.
 */
export class SharedPlaces {
  readonly #max: number;
  readonly #shares: Shares;
  /** The one that has had no turn for longest comes first. */
  readonly #waiting = new Set<WaitingAgent>();
  #agents = 0;
  #own = 0;
  #common = 0;
  #taken = 0;
  #hasFreed = false;

  constructor(max: number, maxShare: number) {
    this.#max = max;
    this.#shares = new Shares(maxShare);
  }

  /** There is one more agent. */
  join(): this {
    this.#agents += 1;
    const isAlone = this.#agents === 1;
    this.#own = isAlone ? this.#max : Math.max(leastOwn, Math.floor((this.#max * ownPart) / this.#agents));
    const left = this.#max - this.#agents * this.#own;
    this.#common = isAlone ? 0 : Math.max(Math.ceil(this.#max * commonPart), left);
    return this;
  }

  /** How many each agent has for itself. */
  get own(): number {
    return this.#own;
  }

  /** How many others any agent may take now. */
  get free(): number {
    return Math.max(0, this.#common - this.#taken);
  }

  /** Whether a caller may take one more of those. */
  mayTake(share: string | undefined): boolean {
    return this.#shares.mayTake(share, { all: this.#common, taken: this.#taken });
  }

  /** A caller takes one of those, or gives one back. */
  count(share: string | undefined, change: 1 | -1): void {
    this.#taken += change;
    this.#shares.count(share, change);
    if (change < 0) this.#hasFreed = true;
  }

  /** The agent has work that waits. */
  enter(agent: WaitingAgent): void {
    this.#waiting.add(agent);
  }

  /** The agent has none. */
  leave(agent: WaitingAgent): void {
    this.#waiting.delete(agent);
  }

  /** Gives what has been given back to the agents that wait, one after the other: the one that has given it back has no first right. */
  serve(): void {
    if (!this.#hasFreed) return;
    this.#hasFreed = false;
    let passed = 0;
    while (this.free > 0 && passed < this.#waiting.size) {
      const [agent] = this.#waiting;
      if (agent === undefined) return;
      this.#waiting.delete(agent);
      this.#waiting.add(agent);
      passed = agent.beginNext() ? 0 : passed + 1;
    }
  }
}
