import { ConnectError } from "@connectrpc/connect";
import {
  grpcStatusOk,
  headerGrpcMessage,
  headerGrpcStatus,
  setTrailerStatus,
} from "@connectrpc/connect/protocol-grpc";

/** Say in trailers how a call ended: `grpc-status`, and for an error its message, details and metadata. */
export function setStatus(trailer: Headers, error: ConnectError | undefined): void {
  if (error === undefined) {
    trailer.set(headerGrpcStatus, grpcStatusOk);
    return;
  }
  const sendable = error.rawMessage.isWellFormed() ? error : withWellFormedMessage(error);
  setTrailerStatus(trailer, sendable);
  trailer.set(headerGrpcMessage, escapeMessage(sendable.rawMessage));
}

/**
 * Escape a `grpc-message` as gRPC says: only `%` and what is not printable ASCII. Connect escapes punctuation, too, which
 * grpc-js then shows to people as it stands (`ended%3B`).
 */
export function escapeMessage(message: string): string {
  return message.replace(/[^ -$&-~]/gu, encodeURIComponent);
}

/** Half a surrogate pair cannot be escaped; whoever cut a text there meant no harm. */
function withWellFormedMessage({ rawMessage, code, metadata, details }: ConnectError): ConnectError {
  const error = new ConnectError(rawMessage.toWellFormed(), code, metadata);
  error.details = details;
  return error;
}
