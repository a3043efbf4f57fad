import type { LinkedAbort } from "@a2a-connect/core/internal";
import type { StreamResponse } from "@a2a-connect/proto";
import type { ClientContext } from "../client-context.ts";
import { explainFailure } from "../failure.ts";
import { beginCourse } from "./course.ts";
import type { Observation } from "./observation.ts";
import type { Outcome } from "./phases.ts";
import type { NumberedResponse } from "./sources/source.ts";

/** A caller that reads the events itself. What it needs is done in the generator, which saves a promise for each event. */
export interface EventReader {
  /** Whether it reads no more: then the end of its pending read is no failure. */
  hasLeft: boolean;
  /** What ends the observation; disposed of at its end. */
  readonly ending: LinkedAbort;
}

/**
 * The events of a task until it is over, each once and in order, over any number of sources; or the one direct Message
 * that answers its message. `phases.ts` has which source comes next.
 *
 * @param reader who reads them, if failures are for a caller of ours
 * @throws UnreachableError when the agent could not be reached for longer than `retry.giveUpAfterMs`
 * @throws SendUncertainError when it is not known whether the message was taken
 * @throws CardDriftError, CardRefusedError, InputModeError when the message was not sent, or not taken
 * @throws ConnectError an answer of the agent that a repeated call would not change, such as TASK_NOT_FOUND
 */
export async function* observe(
  context: ClientContext,
  observation: Observation,
  reader?: EventReader,
): AsyncGenerator<StreamResponse, void> {
  const { tracker, until } = observation;
  try {
    using course = await beginCourse(context, observation);
    while (!tracker.isOver(until)) {
      let outcome: Outcome;
      try {
        using source = course.open();
        let read: NumberedResponse | undefined;
        for (;;) {
          const reading = source.read();
          read = reading instanceof Promise ? await reading : reading; // an event that is here costs no turn
          if (read === undefined || course.shouldCatchUpByStream(read)) {
            break;
          }
          const events = tracker.accept(read);
          course.note(events.length);
          for (const event of events) {
            yield event;
          }
          if (read.response.payload.case === "message" || tracker.isOver(until)) {
            return;
          }
        }
        outcome = course.outcomeAtEnd(read);
      } catch (error) {
        outcome = course.outcomeOfFailure(error);
      }
      await course.advance(outcome);
    }
  } catch (error) {
    if (reader?.hasLeft !== true) {
      throw reader === undefined ? error : explainFailure(error);
    }
  } finally {
    reader?.ending[Symbol.dispose]();
  }
}
