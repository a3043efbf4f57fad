import { CardRefusedError } from "../errors.ts";

/** What whoever wants to send something to a task is told when the agent's card is refused; other errors stay as they are. */
export function withTask(error: unknown, taskId: string): unknown {
  if (!(error instanceof CardRefusedError)) {
    return error;
  }
  const { message, hint, cause } = error;
  const further = `Task ${taskId} can be followed and canceled all the same; resume task ${taskId} once the card is trusted again.`;
  return new CardRefusedError(`${message} Nothing was sent to task ${taskId}, which is still there.`, {
    taskId,
    hint: hint === undefined ? further : `${hint} ${further}`,
    cause,
  });
}
