import {
  createEngineHarness,
  createScriptedExecutor,
  type EngineHarnessOptions,
  say,
} from "@a2a-connect/testing";
import type { TurnAgent, TurnExecutor } from "../src/agent/agent-definition.ts";

/** An agent that runs `execute`, and may answer with anything. */
export const agentOf = <Rest extends Partial<TurnAgent> = object>(execute: TurnExecutor, rest?: Rest) => ({
  card: { name: "Agent", defaultOutputModes: ["*/*"] },
  execute,
  ...rest,
});

/** Starts an agent in memory that runs `execute`. */
export function startAgent(
  execute: TurnExecutor,
  rest: Partial<TurnAgent> = {},
  options: Partial<EngineHarnessOptions> = {},
) {
  return createEngineHarness({ agent: agentOf(execute, rest), ...options });
}

/**
 * Starts an agent in memory whose executor does what a test says. Tasks have random ids, so that several servers can
 * share a store.
 */
export async function startScripted(
  rest: Partial<TurnAgent> = {},
  options: Partial<EngineHarnessOptions> = {},
) {
  const script = createScriptedExecutor();
  const agent = agentOf(script.execute, rest);
  const harness = await createEngineHarness({ agent, randomId: () => crypto.randomUUID(), ...options });
  const { client, clock } = harness;

  /** A task that is worked on, with the turn that works on it and the answer to its message. */
  async function startTask(details: Parameters<typeof say>[1] = {}) {
    const answer = client.sendMessage(say("go", details));
    answer.catch(() => {}); // a test that awaits it gets the error
    const scriptedTurn = await script.nextTurn();
    await scriptedTurn.yields(scriptedTurn.turn.working());
    await clock.settle();
    return { id: scriptedTurn.turn.taskId, answer, ...scriptedTurn };
  }

  /** A task that has asked its caller "?". */
  async function startAsking(details: Parameters<typeof say>[1] = {}) {
    const task = await startTask(details);
    await task.yields(task.turn.inputRequired("?"));
    await clock.settle();
    return task;
  }

  return { ...harness, agent, script, startTask, startAsking };
}
