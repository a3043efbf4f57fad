import type { StreamResponse } from "@a2a-connect/proto";
import type { ClientContext } from "../client-context.ts";
import type { Observation } from "../follow/observation.ts";
import type { RepeatedQuestion } from "./repeated-question.ts";
import type { ResumeOptions } from "./run-types.ts";

/** A run: its task, the events of that, and the caller's callbacks. */
export interface Run {
  readonly context: ClientContext;
  readonly options: ResumeOptions;
  readonly observation: Observation;
  readonly events: AsyncGenerator<StreamResponse, void>;
  readonly repeated: RepeatedQuestion;
}

/** The next event of a task, or its end. */
export type NextEvent = IteratorResult<StreamResponse, void>;
