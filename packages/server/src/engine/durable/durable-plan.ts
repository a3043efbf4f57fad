import type { Priority } from "@a2a-connect/core";
import type { DurableAgentCode } from "../../agent/skill-selection.ts";
import type { CallInput } from "../../agent/task-tools.ts";
import type { CallDetails } from "../command.ts";
import type { LiveTask } from "../live-task.ts";
import type { DurableRun } from "./durable-run.ts";
import type { RunAttempt } from "./run-attempts.ts";

/** What a durable executor needs to run. */
export interface DurablePlan {
  readonly live: LiveTask;
  readonly code: DurableAgentCode;
  readonly skill: string | undefined;
  /** The executor's input, made from the call that created the task. */
  readonly input: (details: CallDetails) => CallInput;
  /** Media types that the skill may produce. */
  readonly outputModes: readonly string[];
  readonly priority: Priority | undefined;
  /** See `Runnable`. */
  readonly share: string | undefined;
  /** The details of the call that created a new task; undefined: the journal has them. */
  readonly call: CallDetails | undefined;
  /** See `RunAttempts.create`. */
  readonly openAttempt: (run: DurableRun, before: number) => RunAttempt | undefined;
  /** Asks for a slot for the next activation. */
  readonly askForPlace: () => void;
  /** Called when it was told to stop: it may wait for its slot. */
  readonly hurry: () => void;
  /** Called when it has ended: it may still wait for a slot. */
  readonly withdraw: () => void;
  /** Called when it has given its slot back. */
  readonly onRest: () => void;
}
