import { setImmediate } from "node:timers";

/** Counts what happens, and how much of it happens in one turn of the event loop. */
export interface TurnCount {
  readonly total: number;
  /** In the turn that had most of it. */
  readonly mostInATurn: number;
  /** It happened once more. It needs no receiver, so it may be passed on as a listener. */
  readonly count: () => void;
}

/** A count that begins at 0. */
export function createTurnCount(): TurnCount {
  let inTurn = 0;
  const counted = {
    total: 0,
    mostInATurn: 0,
    count(): void {
      if (inTurn === 0) {
        setImmediate(() => {
          inTurn = 0;
        });
      }
      inTurn += 1;
      counted.total += 1;
      counted.mostInATurn = Math.max(counted.mostInATurn, inTurn);
    },
  };
  return counted;
}
