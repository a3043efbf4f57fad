import type { EndReason } from "@a2a-connect/core";
import type { UnusedResults } from "../agent/unused-results.ts";

/**
 * An executor does what no executor may. The engine throws this at the `yield` where there is one; it ends the task when
 * the executor does not catch it. Its message is about the agent's own output and may be shown to callers.
 */
export class AgentMistake extends Error {
  readonly reason: EndReason;

  constructor(message: string, reason: EndReason = "invalid-agent-response") {
    super(message);
    this.name = "AgentMistake";
    this.reason = reason;
  }
}

/** Whether what plain JavaScript may have yielded is an event that a tool of the executor has made. */
export function isEvent(yielded: unknown, kinds: readonly string[]): boolean {
  return isObject(yielded) && "kind" in yielded && kinds.some((kind) => kind === yielded.kind);
}

/** @throws AgentMistake for a value that is no such event */
export function assertEvent(yielded: unknown, kinds: readonly string[]): void {
  if (!isEvent(yielded, kinds)) {
    throw new AgentMistake(
      `the executor yielded ${describe(yielded)}, which is no event; ${howToYield(yielded)}`,
    );
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
        `the executor returned ${describe(returned)}, and a returned value is lost; yield an event with it before`,
      );
}

function howToYield(yielded: unknown): string {
  if (isObject(yielded) && Symbol.asyncIterator in yielded) {
    return 'write "yield*" to pass on the events of another generator, such as ask(…)';
  }
  return "yield what the executor's tools return, such as artifact({ text: … })";
}

function describe(value: unknown): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  if (isObject(value)) {
    return Array.isArray(value) ? "an array" : "then" in value ? "a promise" : "an object";
  }
  return `a ${typeof value}`;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
