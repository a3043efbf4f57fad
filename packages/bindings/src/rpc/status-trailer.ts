import { ConnectError } from "@connectrpc/connect";
import {
  grpcStatusOk,
  headerGrpcMessage,
  headerGrpcStatus,
  setTrailerStatus,
} from "@connectrpc/connect/protocol-grpc";

/** Writes into trailers how a call ended: `grpc-status`, and for an error its message, details and metadata. */
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
 * Escapes a `grpc-message` by gRPC's rule: only `%` and characters that are not printable ASCII. Connect also escapes
 * punctuation, which grpc-js then shows to people unchanged (`ended%3B`).
 */
export function escapeMessage(message: string): string {
  return message.replace(/[^ -$&-~]/gu, encodeURIComponent);
}

/** Half a surrogate pair cannot be escaped. It may come from a text that was cut off there, so it is replaced. */
function withWellFormedMessage({ rawMessage, code, metadata, details }: ConnectError): ConnectError {
  const error = new ConnectError(rawMessage.toWellFormed(), code, metadata);
  error.details = details;
  return error;
}
