import { idempotencyKeyHeader } from "@a2a-connect/core/internal";
import type { SendMessageRequest, SendMessageResponse } from "@a2a-connect/proto";
import { ConnectError } from "@connectrpc/connect";
import type { Connection } from "../connection.ts";
import { InvalidResponseError, SendUncertainError } from "../errors.ts";
import { isTransient } from "../follow/verdict.ts";
import { wasNeverSent } from "../interface/never-sent.ts";
import { repeatCall } from "./repeat-call.ts";

/** How to send a message by one request. */
export interface SendOnceOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Makes the send repeatable. */
  readonly key: string | undefined;
  readonly timeoutMs: number;
}

/**
 * SendMessage, such that the message is taken at most once: repeated under its key; without a key only when it is
 * certain that nothing was sent.
 *
 * @throws SendUncertainError when it is not known whether the message was taken
 */
export async function sendOnce(
  { rpc, settings }: Connection,
  request: SendMessageRequest,
  { headers, signal, key, timeoutMs }: SendOnceOptions,
): Promise<SendMessageResponse> {
  const options = { signal, timeoutMs, headers: { ...headers, ...keyHeader(key) } };
  const send = () => rpc.sendMessage(request, options);
  const response = await (key === undefined
    ? sendCarefully(send, request.message?.messageId ?? "")
    : repeatCall(send, settings, signal, "time"));
  const { payload } = response;
  if (payload.case === undefined || (payload.case === "task" && payload.value.id === "")) {
    throw new InvalidResponseError("The agent answered with neither a task nor a message.", {
      hint: "The server does not follow the A2A protocol, or is newer than this client.",
    });
  }
  return response;
}

/** The header that identifies a send. */
export function keyHeader(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { [idempotencyKeyHeader]: key };
}

async function sendCarefully<T>(send: () => Promise<T>, messageId: string): Promise<T> {
  try {
    return await send();
  } catch (error) {
    throw isTransient(error) && !error.isWireError && !wasNeverSent(error)
      ? sendUncertain(messageId, error)
      : error;
  }
}

/** The error of a send without an answer that cannot be repeated. */
export function sendUncertain(messageId: string, cause: unknown): SendUncertainError {
  const said = cause instanceof ConnectError ? cause.rawMessage : "the stream had no events";
  return new SendUncertainError(
    `The message was sent, and no usable answer came: it is not known whether the agent has taken it (${said}).`,
    messageId,
    {
      hint: "Look for its task (list tasks by context) before you send it again: this agent does not promise to take a message once.",
      cause,
    },
  );
}
