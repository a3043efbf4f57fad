import type { StreamResponse } from "@a2a-connect/proto";
import type { ClientContext } from "../client-context.ts";
import { beginCourse } from "./course.ts";
import type { Observation } from "./observation.ts";
import type { Outcome } from "./phases.ts";

/**
 * The events of a task until it is over, each once and in order, over any number of sources; or the one direct Message
 * that answers its message. `phases.ts` has which source comes next.
 *
 * @throws UnreachableError when the agent could not be reached for longer than `retry.giveUpAfterMs`
 * @throws SendUncertainError when it is not known whether the message was taken
 * @throws CardDriftError, CardRefusedError, InputModeError when the message was not sent, or not taken
 * @throws ConnectError an answer of the agent that a repeated call would not change, such as TASK_NOT_FOUND
 */
export async function* observe(
  context: ClientContext,
  observation: Observation,
): AsyncGenerator<StreamResponse, void> {
  const { tracker, until } = observation;
  using course = await beginCourse(context, observation);
  while (!tracker.isOver(until)) {
    let outcome: Outcome;
    try {
      using source = course.open();
      let read = await source.read();
      for (; read !== undefined && !course.shouldCatchUpByStream(read); read = await source.read()) {
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
}
