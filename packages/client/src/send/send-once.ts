import type { SendMessageRequest, SendMessageResponse } from "@a2a-connect/proto";
import { repeatCall } from "../calls/repeat-call.ts";
import { checkInputModes } from "../card/input-modes.ts";
import { type ClientContext, cardOf } from "../client-context.ts";
import { InvalidResponseError } from "../errors.ts";
import { finalSendFailure, keyHeader } from "./idempotency-key.ts";

/** How to send a message by one request. */
export interface SendCallOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Makes the send repeatable. */
  readonly key: string | undefined;
  readonly timeoutMs: number;
}

/** The answer to a message: a task or a direct Message. */
export type SendAnswer = Exclude<SendMessageResponse["payload"], { case: undefined }>;

/** SendMessage, once. @throws InvalidResponseError when the answer is neither a task nor a message */
export async function sendCall(
  { rpc }: ClientContext,
  request: SendMessageRequest,
  { headers, signal, key, timeoutMs }: SendCallOptions,
): Promise<SendAnswer> {
  const sent = { ...headers, ...keyHeader(key) };
  const { payload } = await rpc.sendMessage(request, { signal, timeoutMs, headers: sent });
  if (payload.case === undefined || (payload.case === "task" && payload.value.id === "")) {
    throw new InvalidResponseError("The agent answered with neither a task nor a message.", {
      hint: "The server does not follow the A2A protocol, or is newer than this client.",
    });
  }
  return payload;
}

/**
 * SendMessage, such that the message is taken at most once: repeated under its key; without a key only once.
 *
 * @throws SendUncertainError when it is not known whether the message was taken
 */
export async function sendOnce(
  context: ClientContext,
  request: SendMessageRequest,
  options: SendCallOptions,
): Promise<SendAnswer> {
  const send = () => sendCall(context, request, options);
  if (options.key !== undefined) {
    return repeatCall(send, context.settings, options.signal, "time");
  }
  try {
    return await send();
  } catch (error) {
    throw finalSendFailure(error, request);
  }
}

/** Parts that the skill does not accept are not sent. @throws InputModeError, RequirementError */
export function checkInput(
  context: ClientContext,
  { message }: SendMessageRequest,
  { skill }: { readonly skill?: string },
): void {
  if (context.options.checkInputModes !== false) {
    checkInputModes(cardOf(context), message?.parts ?? [], skill);
  }
}
