import type { EndReason } from "@a2a-connect/core";

/**
 * An executor yielded an event that is not allowed. The engine throws this at the `yield`; it ends the task when the
 * executor does not catch it. Its message is about the agent's own output and may be shown to callers.
 */
export class AgentMistake extends Error {
  readonly reason: EndReason;

  constructor(message: string, reason: EndReason = "invalid-agent-response") {
    super(message);
    this.name = "AgentMistake";
    this.reason = reason;
  }
}
