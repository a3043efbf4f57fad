import type { EndReason } from "@a2a-connect/core";
import { ownText } from "@a2a-connect/core/internal";
import type { UnusedResults } from "../agent/unused-results.ts";

/** A sentence may name a long value of the agent, and the end of a task has room for a short one in any case (`alwaysStoredBytes`). */
const maxCharacters = 1_000;

/**
 * An executor does what no executor may. The engine throws this at the `yield` where there is one; it ends the task when
 * the executor does not catch it. Its message is about the agent's own output and may be shown to callers.
 */
export class AgentMistake extends Error {
  readonly reason: EndReason;

  constructor(message: string, reason: EndReason = "invalid-agent-response") {
    const isLong = message.length > maxCharacters;
    super(isLong ? `${ownText(message.slice(0, maxCharacters)).toWellFormed()}…` : message);
    this.name = "AgentMistake";
    this.reason = reason;
  }
}

/** What is wrong at the end of an executor that has not failed: a result that it left unused, or a value that it returned. */
export function findLastMistake(unused: UnusedResults, returned: unknown): AgentMistake | undefined {
  const oldest = unused.find();
  if (oldest !== undefined) {
    const mistake = new AgentMistake(oldest.sentence);
    // Not where the engine has found it: that would mislead.
    mistake.stack = [
      `${mistake.name}: ${mistake.message}`,
      ...(oldest.stack?.split("\n").slice(1) ?? []),
    ].join("\n");
    return mistake;
  }
  return returned === undefined
    ? undefined
    : new AgentMistake(
        `the executor returned ${describeValue(returned)}, and a returned value is lost; yield an event with it before`,
      );
}

/** A value as sentences about an executor name it. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  if (typeof value === "object") {
    return Array.isArray(value) ? "an array" : "then" in value ? "a promise" : "an object";
  }
  return `a ${typeof value}`;
}
