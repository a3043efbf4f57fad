import { ResponseLimitError } from "@a2a-connect/bindings/client";
import { findA2AError } from "@a2a-connect/core";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  AgentError,
  ContentTooLargeError,
  errorMessage,
  InvalidResponseError,
  UnreachableError,
} from "./errors.ts";

/**
 * The error that a caller gets for a failed call.
 *
 * The server's answer stays a ConnectError. When there was no answer, or an unusable one, it is an AgentError that says
 * what to do. Interceptors can throw ConnectErrors only, so an inspector's refusal is inside one.
 */
export function explainFailure(error: unknown): unknown {
  if (!(error instanceof ConnectError)) {
    return error;
  }
  if (error.cause instanceof AgentError) {
    return error.cause;
  }
  const plain = withPlainMessage(error);
  return plain.isWireError ? plain : explainLocal(plain);
}

/** The result of a call, whose failure callers get. @throws what `explainFailure` makes of the call's error */
export async function explained<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw explainFailure(error);
  }
}

function explainLocal(error: ConnectError): Error {
  const { rawMessage, code, cause } = error;
  if (cause instanceof ResponseLimitError) {
    return new ContentTooLargeError("The agent's answer", cause.limit, {
      hint: "If that much is expected, raise maxResponseBytes.",
      cause: error,
    });
  }
  switch (code) {
    case Code.Unavailable:
      return new UnreachableError(`The agent could not be reached: ${rawMessage}.`, {
        hint: "Check the address and that the agent is running, or try again later.",
        cause: error,
      });
    case Code.DeadlineExceeded:
      return new UnreachableError(`The agent did not answer in time: ${rawMessage}.`, {
        hint: "Try again later, or allow more time with requestTimeoutMs.",
        cause: error,
      });
    case Code.Internal:
    case Code.Unknown:
    case Code.DataLoss:
    case Code.NotFound:
    case Code.Unimplemented:
      return new InvalidResponseError(`The agent's answer cannot be used: ${rawMessage}.`, {
        hint: "The server may not follow the A2A protocol, or something in front of it answers in its place.",
        cause: error,
      });
    default:
      return error; // refused, or aborted by the caller
  }
}

/** The error of a call about a task: "not found" names the task that was asked for. */
export function nameMissingTask(error: unknown, taskId: string): unknown {
  const isMissing = findA2AError(error)?.reason === "TASK_NOT_FOUND";
  return isMissing && error instanceof ConnectError && !error.rawMessage.includes(taskId)
    ? withMessage(error, `task ${JSON.stringify(taskId)}: ${error.rawMessage}`)
    : error;
}

/** A server's text may be shown in a terminal. */
function withPlainMessage(error: ConnectError): ConnectError {
  return withMessage(error, errorMessage(error.rawMessage));
}

function withMessage(error: ConnectError, text: string): ConnectError {
  if (text === error.rawMessage) {
    return error;
  }
  const plain = new ConnectError(text, error.code, error.metadata, undefined, error.cause);
  plain.isWireError = error.isWireError;
  plain.details.push(...error.details);
  return plain;
}
