import { AgentMistake } from "../agent-mistake.ts";

/** A result that cannot be stored: it cannot be cloned, or is too large; or a step with a name that is too long. Thrown at the `step`. */
export class JournalError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "JournalError";
  }
}

/**
 * An executor ran again and differs from its task's log: its code has changed, or it decides on something that is not
 * in the journal. Ends the task with reason `journal-diverged`; callers are told at which event.
 */
export class JournalDiverged extends AgentMistake {
  /** For the operator: what was expected and what came. */
  readonly detail: string;

  constructor(event: number, detail: string) {
    super(
      `The agent's code no longer matches the log of this task: they differ at event ${event}.`,
      "journal-diverged",
    );
    this.name = "JournalDiverged";
    this.detail = detail;
  }
}
