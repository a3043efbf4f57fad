import type { Turn, TurnEvent, TurnExecutor } from "@a2a-connect/server";

/** One turn of a scripted executor, controlled by the test. */
export interface ScriptedTurn {
  readonly turn: Turn;
  /**
   * Yields an event.
   *
   * @returns what happened at the `yield`: the engine `resumed` the generator, or `ended` it there
   * @throws Error the error that the engine threw at the `yield`; the executor has caught it and continues
   */
  yields(event: TurnEvent): Promise<"resumed" | "ended">;
  /** Makes the executor return. */
  returns(): void;
  /** Makes the executor throw. */
  throws(error: unknown): void;
  /** Resolves when the executor's `finally` has run. */
  readonly closed: Promise<void>;
}

/** An executor that does what a test says, when the test says it. */
export interface ScriptedExecutor {
  readonly execute: TurnExecutor;
  /** The next turn that began. Each turn is returned once, in order. */
  nextTurn(): Promise<ScriptedTurn>;
  /** How many turns have begun. */
  readonly begun: number;
}

type Step =
  | {
      readonly kind: "yield";
      readonly event: TurnEvent;
      readonly outcome: PromiseWithResolvers<"resumed" | "ended">;
    }
  | { readonly kind: "return" }
  | { readonly kind: "throw"; readonly error: unknown };

/** An executor that a test controls. It does nothing by itself, and ignores its signal. */
export function createScriptedExecutor(): ScriptedExecutor {
  const turns = createQueue<ScriptedTurn>();
  let begun = 0;
  return {
    async *execute(turn) {
      begun += 1;
      const steps = createQueue<Step>();
      const closed = Promise.withResolvers<void>();
      turns.put(toScriptedTurn(turn, steps, closed.promise));
      try {
        yield* play(steps);
      } finally {
        closed.resolve();
      }
    },
    nextTurn: turns.take,
    get begun() {
      return begun;
    },
  };
}

function toScriptedTurn(turn: Turn, steps: Queue<Step>, closed: Promise<void>): ScriptedTurn {
  return {
    turn,
    yields(event) {
      const outcome = Promise.withResolvers<"resumed" | "ended">();
      steps.put({ kind: "yield", event, outcome });
      return outcome.promise;
    },
    returns: () => steps.put({ kind: "return" }),
    throws: (error) => steps.put({ kind: "throw", error }),
    closed,
  };
}

async function* play(steps: Queue<Step>): AsyncGenerator<TurnEvent> {
  for (;;) {
    const step = await steps.take();
    if (step.kind === "return") return;
    if (step.kind === "throw") throw step.error;
    try {
      yield step.event;
      step.outcome.resolve("resumed");
    } catch (error) {
      step.outcome.reject(error);
    } finally {
      step.outcome.resolve("ended");
    }
  }
}

interface Queue<Item> {
  put(item: Item): void;
  take(): Promise<Item>;
}

function createQueue<Item>(): Queue<Item> {
  const items: Item[] = [];
  const takers: ((item: Item) => void)[] = [];
  return {
    put(item) {
      const taker = takers.shift();
      if (taker === undefined) items.push(item);
      else taker(item);
    },
    take() {
      const [item] = items.splice(0, 1);
      return item === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(item);
    },
  };
}
