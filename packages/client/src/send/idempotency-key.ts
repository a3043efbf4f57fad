import { idempotencyKeyHeader } from "@a2a-connect/core/internal";
import type { SendMessageRequest } from "@a2a-connect/proto";
import type { SendOptions } from "../call-options.ts";
import { isTransient } from "../calls/failures.ts";
import type { ClientContext } from "../client-context.ts";
import { SendUncertainError } from "../errors.ts";
import { wasNeverSent } from "../interface/never-sent.ts";

/**
 * The key under which a message is sent. An agent takes a message once that comes twice under one key, so a message that
 * got no answer is repeated only under a key: the caller's, else one of the client's own if the agent honours keys.
 *
 * @returns undefined when the message may be sent only once
 */
export function keyFor(
  { cards, settings }: ClientContext,
  { idempotencyKey }: Pick<SendOptions, "idempotencyKey"> = {},
): string | undefined {
  return idempotencyKey ?? (cards.current.honoursKeys ? settings.randomId() : undefined);
}

/** The header with the key. */
export function keyHeader(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { [idempotencyKeyHeader]: key };
}

/** Whether a message may be sent again after a failure, and that may help. */
export function maySendAgain(error: unknown, key: string | undefined): boolean {
  return isTransient(error) && (key !== undefined || wasNeverSent(error));
}

/** The error for a message that is not sent again: without an answer it is not known whether the agent has it. */
export function finalSendFailure(cause: unknown, { message }: SendMessageRequest): unknown {
  if (!isTransient(cause) || cause.isWireError || wasNeverSent(cause)) {
    return cause;
  }
  return new SendUncertainError(
    `The message was sent, and no usable answer came: it is not known whether the agent has taken it (${cause.rawMessage}).`,
    message?.messageId ?? "",
    {
      hint: "Look for its task (list tasks by context) before you send it again: this agent does not promise to take a message once.",
      cause,
    },
  );
}
