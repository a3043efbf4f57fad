import { a2aError } from "@a2a-connect/core";
import { SharedBudget } from "@a2a-connect/core/internal";
import type { EngineLimits } from "../engine-context.ts";

/** When a caller may try again. */
const retryAfterSeconds = "1";

/** What a task may take without being counted. Even where each place has such a task, all of them take little. */
const smallBytes = 16 * 1024;

type Limits = Pick<EngineLimits, "maxActiveBytes" | "maxFollowers" | "maxShare">;

/**
 * The bytes that tasks take in memory that callers hold there: new tasks, tasks with a further message, and tasks that are
 * followed. Places alone bound nothing: thousands of tasks may run and wait, and each may be as large as a task can be.
 */
export function createActiveBytes({ maxActiveBytes, maxShare }: Limits): SharedBudget {
  const words = `tasks that run, wait or are followed take most of ${maxActiveBytes} bytes of memory; try again in ${retryAfterSeconds} second or later, or send a smaller message`;
  const metadata = { retryAfterSeconds, maxActiveBytes: String(maxActiveBytes) };
  const refuse = () => a2aError("CAPACITY", words, metadata);
  return new SharedBudget({ max: maxActiveBytes, maxShare, uncounted: smallBytes, refuse });
}

/** The calls that wait for something of a task that they did not create: each is a stream that stays open. */
export function createFollowers({ maxFollowers, maxShare }: Limits): SharedBudget {
  const words = `most of ${maxFollowers} calls that may follow a task are open; try again in ${retryAfterSeconds} second or later`;
  const metadata = { retryAfterSeconds, maxFollowers: String(maxFollowers) };
  const refuse = () => a2aError("CAPACITY", words, metadata);
  return new SharedBudget({ max: maxFollowers, maxShare, refuse });
}
