import type { EndReason } from "@a2a-connect/core";

/**
 * Something an executor yielded that may not be: it is thrown at the `yield`, and ends the task when the executor does
 * not catch it. Its message is about the agent's own output and may be shown to callers.
 */
export class AgentMistake extends Error {
  readonly reason: EndReason;

  constructor(message: string, reason: EndReason = "invalid-agent-response") {
    super(message);
    this.name = "AgentMistake";
    this.reason = reason;
  }
}
