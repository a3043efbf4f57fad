/**
 * Thrown by a scenario that finds out, while it runs, that its server has nothing to show the behaviour with. For example,
 * an agent that answers with a message has no task to cancel. That is neither a pass nor a failure.
 */
export class NotApplicable extends Error {
  override readonly name = "NotApplicable";
}

/** Takes the place of a message that is not to be sent. @throws NotApplicable */
export function refuseMessage(): never {
  throw new NotApplicable("it sends a message to the agent, and none was to be sent");
}
