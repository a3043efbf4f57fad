import { AgentError, findA2AError } from "@a2a-connect/client";
import { Code, ConnectError } from "@connectrpc/connect";

/** What went wrong, in words. */
export interface Failure {
  readonly message: string;
  /** The protocol's word for it, such as `TASK_NOT_FOUND`, or the code of the call. */
  readonly reason: string | undefined;
  /** What to do about it. */
  readonly hint: string | undefined;
  /** Whether the agent wants other credentials. */
  readonly needsCredentials: boolean;
}

/** What a call has thrown, for people. */
export function explain(error: unknown): Failure {
  const call = ConnectError.from(
    error instanceof AgentError && error.cause !== undefined ? error.cause : error,
  );
  const needsCredentials = call.code === Code.Unauthenticated || call.code === Code.PermissionDenied;
  const reason = findA2AError(error)?.reason ?? (call.code === Code.Unknown ? undefined : Code[call.code]);
  if (error instanceof AgentError) {
    return { message: error.message, reason, hint: error.hint, needsCredentials };
  }
  return { message: call.rawMessage, reason, hint: undefined, needsCredentials };
}
