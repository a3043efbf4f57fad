import { CardRefusedError } from "../errors.ts";

/** The error for a message to a task whose agent's card is refused; other errors stay as they are. */
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
