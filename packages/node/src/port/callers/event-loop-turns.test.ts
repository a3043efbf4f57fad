import { EventEmitter } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { defaultLimits } from "../listen-options.ts";
import { type CallerConnection, Callers } from "./callers.ts";
import { EventLoopTurns } from "./event-loop-turns.ts";

it("lets 64 requests begin in a turn of the event loop, whichever connections they came over", async () => {
  const { ask, turns } = createAsker();
  for (let connection = 0; connection < 50; connection += 1) ask(createConnection("10.0.0.1"), 4);
  expect(await turns(4)).toEqual([64, 64, 64, 8]);
});

it("lets fewer begin in a turn in which they take long", async () => {
  const { ask, turns, slow } = createAsker();
  slow(3);
  ask(createConnection("10.0.0.1"), 200);
  expect(await turns(3)).toEqual([4, 4, 4]);
  slow(11);
  expect(await turns(2)).toEqual([1, 1]);
  slow(0);
  expect(await turns(2)).toEqual([64, 64]);
});

it("lets callers begin in turns, and so the connections of one", async () => {
  const { ask, begun, turns } = createAsker();
  const connections = [1, 1, 2].map((caller) => createConnection(`10.0.0.${caller}`));
  ask(createConnection("10.0.0.3"), 64); // all of this turn
  for (const [at, connection] of connections.entries()) ask(connection, 3, `connection ${at}`);
  await turns(2);
  expect(begun.slice(64)).toEqual(
    [0, 2, 1, 2, 0, 2, 1, 0, 1].map((connection) => `connection ${connection}`),
  );
});

it("lets none begin in turns that are for something else", async () => {
  const { ask, rest, turns } = createAsker();
  ask(createConnection("10.0.0.1"), 100);
  rest(true);
  expect(await turns(4)).toEqual([64, 0, 0, 0]);
  rest(false);
  expect(await turns(1)).toEqual([36]);
});

const callers = new Callers(defaultLimits);

function createConnection(address: string): CallerConnection {
  return callers.connectionOf(new EventEmitter(), () => address);
}

/** Asks for turns, and notes what has begun. */
function createAsker() {
  let now = 0;
  let tookMs = 0;
  let resting = false;
  const starts = new EventLoopTurns(
    64,
    () => resting,
    () => now,
  );
  const begun: string[] = [];
  let counted = 0;
  const begin = (name: string): void => {
    begun.push(name);
    now += tookMs;
  };
  return {
    begun,
    /** What each request takes from now on, in all that are begun in a turn. */
    slow: (ms: number) => {
      tookMs = ms;
    },
    rest: (rests: boolean) => {
      resting = rests;
    },
    ask: (connection: CallerConnection, requests: number, name = "") => {
      for (let request = 0; request < requests; request += 1) {
        const turn = starts.turn(connection);
        if (turn === undefined) begin(name);
        else void turn.then(() => begin(name));
      }
    },
    /** How many begin in each of the next turns, the one that is under way included when it is not counted yet. */
    turns: async (count: number) => {
      const counts: number[] = [];
      for (let turn = 0; turn < count; turn += 1) {
        if (begun.length === counted) await nextTurn();
        counts.push(begun.length - counted);
        counted = begun.length;
      }
      return counts;
    },
  };
}
