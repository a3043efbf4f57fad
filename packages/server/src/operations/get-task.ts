import { invalidParams, isTerminal } from "@a2a-connect/core";
import { stateOf } from "@a2a-connect/core/internal";
import type { TaskEngine } from "../engine/task-engine.ts";
import type { RateLimiter } from "../gates/rate-limits.ts";
import {
  answerCounterOf,
  assertHistoryLength,
  callerOf,
  type Operation,
  showTask,
  speaksDraft,
} from "./operation.ts";

/**
 * GetTask: status, artifacts and history of one task (spec §3.1.3). For a caller of A2A 1.1 that knows the newest
 * generation, it waits for the next one (requirement R-3).
 *
 * @param longPollMs how long it waits at most; then the caller gets the current task
 * @param rates refuses callers that ask again and again
 */
export function getTask(
  engine: TaskEngine,
  longPollMs: number,
  rates: RateLimiter | undefined,
): Operation<"getTask"> {
  return async ({ id, historyLength, currentGeneration }, context) => {
    assertHistoryLength("historyLength", historyLength);
    const known = speaksDraft(context) ? currentGeneration : undefined;
    if (known !== undefined && known < 0n) {
      throw invalidParams({
        field: "currentGeneration",
        description: `must not be negative, but is ${known}`,
      });
    }
    if (known === undefined) {
      rates?.assertPoll(context, id);
    }
    const count = answerCounterOf(context);
    const seen =
      known === undefined
        ? await engine.get(callerOf(context), id, historyLength === 0 ? "results" : "full", count)
        : await engine.getNewer(callerOf(context), id, known, {
            timeoutMs: longPollMs,
            signal: context.signal,
            count,
          });
    if (known === undefined && !isTerminal(stateOf(seen.task))) {
      rates?.notePoll(context, id);
    }
    return showTask(seen, context, historyLength);
  };
}
