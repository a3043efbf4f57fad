import type { Turn, TurnEvent, TurnExecutor } from "@a2a-connect/server";

/** One running turn, whose strings a test holds. */
export interface PuppetTurn {
  /** What the executor got. */
  readonly turn: Turn;
  /** Yields an event. Resolves when the engine has taken it, and the executor would go on. */
  emit(event: TurnEvent): Promise<void>;
  /** Returns from the executor. */
  end(): void;
  /** Throws inside the executor. */
  fail(error: Error): void;
}

/** An executor that does what tests say, when they say it: nothing has to be waited out. */
export interface Puppet {
  readonly execute: TurnExecutor;
  /** The turn of the message with that id; resolves when the agent has begun it. */
  turnOf(messageId: string): Promise<PuppetTurn>;
}

type Step =
  | { readonly kind: "emit"; readonly event: TurnEvent; readonly taken: () => void }
  | { readonly kind: "end" }
  | { readonly kind: "fail"; readonly error: Error };

/** Makes an executor without a will of its own. */
export function createPuppet(): Puppet {
  const turns = new Map<string, PromiseWithResolvers<PuppetTurn>>();
  const promiseOf = (messageId: string): PromiseWithResolvers<PuppetTurn> => {
    const found = turns.get(messageId) ?? Promise.withResolvers<PuppetTurn>();
    turns.set(messageId, found);
    return found;
  };
  return {
    turnOf: (messageId) => promiseOf(messageId).promise,
    async *execute(turn) {
      const steps = createQueue<Step>();
      promiseOf(turn.message.messageId).resolve({
        turn,
        emit: (event) => new Promise((taken) => steps.push({ kind: "emit", event, taken })),
        end: () => steps.push({ kind: "end" }),
        fail: (error) => steps.push({ kind: "fail", error }),
      });
      for (;;) {
        const step = await steps.shift();
        if (step.kind === "end") {
          return;
        }
        if (step.kind === "fail") {
          throw step.error;
        }
        try {
          yield step.event;
        } finally {
          step.taken();
        }
      }
    },
  };
}

interface Queue<Item> {
  push(item: Item): void;
  shift(): Promise<Item>;
}

function createQueue<Item>(): Queue<Item> {
  const items: Item[] = [];
  let wake = (): void => {};
  return {
    push(item) {
      items.push(item);
      wake();
    },
    async shift() {
      for (;;) {
        const [item] = items.splice(0, 1);
        if (item !== undefined) {
          return item;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
