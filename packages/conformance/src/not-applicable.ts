/**
 * Thrown by a scenario that finds out, while it runs, that its server has nothing to show the behaviour with. For example,
 * an agent that answers with a message has no task to cancel. That is neither a pass nor a failure.
 */
export class NotApplicable extends Error {
  override readonly name = "NotApplicable";
}
