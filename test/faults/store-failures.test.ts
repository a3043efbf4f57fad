// A store that rejects calls at random while tasks run: every task ends as it would have, and nothing shown is lost.

import { join } from "node:path";
import { startReceiver } from "@a2a-connect/conformance";
import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "./agent-process.ts";
import { createChangedClock } from "./changed-clock.ts";
import { openEffects } from "./effects.ts";
import { createFailingStore } from "./failing-store.ts";
import { createFaultAgent } from "./fault-agent.ts";
import { createRandom } from "./random.ts";
import { count, isLong, report } from "./report.ts";
import { playScenario } from "./scenario.ts";
import { createService } from "./service.ts";
import { findFaults, judge } from "./verdict.ts";

const storms = isLong ? 100 : 3;

/** Callers that play the scenario at the same time. */
const callers = 4;

it.each(["memory", "sqlite"] as const)(
  "a %s store that fails at random changes nothing that is seen",
  {
    timeout: storms * 20_000,
  },
  async (kind) => {
    await using webhooks = await startReceiver();
    const dataDir = temporaryDirectory();
    const store = createFailingStore(
      kind === "memory"
        ? createMemoryTaskStore()
        : createSqliteTaskStore({ file: join(dataDir, "tasks.sqlite") }),
    );
    const served = await serve(createFaultAgent(openEffects(dataDir)), {
      store,
      push: { allow: ["127.0.0.1"] },
      // What is tried again after a second is tried again soon.
      clock: createChangedClock({ speed: 20 }),
    });
    onTestFinished(() => served.close({ graceMs: 0, timeoutMs: 1_000 }));
    // Whatever is called while the store cannot be reached has to say just that, on every wire.
    const service = createService(async () => ({
      url: served.url,
      isLost: async (error) => ConnectError.from(error).code === Code.Unavailable,
    }));
    const play = (seed: number) => playScenario({ service, random: createRandom(seed), webhooks });
    const undisturbed = await play(0);
    expect(findFaults(undisturbed)).toEqual([]);
    let comparedEvents = 0;
    for (let seed = 1; seed <= storms; seed++) {
      const random = createRandom(seed);
      store.begin({ random, oneIn: random.between(3, 30), failures: random.between(5, 60) });
      const played = await Promise.all(
        Array.from({ length: callers }, (_, caller) => play(seed * 100 + caller)),
      );
      const verdicts = played.map((each) => judge(each, { undisturbed, dataDir, mayGiveUp: true }));
      const problems = verdicts.flatMap((verdict) => verdict.problems);
      expect({ seed, problems }).toEqual({ seed, problems: [] });
      comparedEvents += verdicts.reduce((sum, verdict) => sum + verdict.comparedEvents, 0);
    }
    const { read, unwritten, written } = store.failures;
    expect(Math.min(read, unwritten, written)).toBeGreaterThan(storms);
    report({
      fault: `calls of a ${kind} store that fail at random, some of them after they have written`,
      times: count(read + unwritten + written, "failures"),
      compared: count(comparedEvents, "events"),
    });
  },
);
