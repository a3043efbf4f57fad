import { ConnectError } from "@connectrpc/connect";
import {
  grpcStatusOk,
  headerGrpcMessage,
  headerGrpcStatus,
  headerStatusDetailsBin,
  setTrailerStatus,
} from "@connectrpc/connect/protocol-grpc";
import type { HttpResponse } from "../http.ts";

/**
 * Longest message of an error, in UTF-16 units, and longest text of its details. Node's HTTP/2 sends no trailers of more than
 * 64 KiB: it ends the connection, with all of its calls. An escaped unit of a message has up to 9 bytes.
 */
const maxMessageLength = 2_048;
const maxDetailsLength = 16 * 1024;

/**
 * Writes into trailers how a call ended: `grpc-status`, and for an error its message, details and metadata. A message that is
 * too long for trailers is cut off, and details that are too long are left out.
 */
export function setStatus(trailer: Headers, error: ConnectError | undefined): void {
  if (error === undefined) {
    trailer.set(headerGrpcStatus, grpcStatusOk);
    return;
  }
  const isSendable = error.rawMessage.length <= maxMessageLength && error.rawMessage.isWellFormed();
  const sendable = isSendable ? error : withSendableMessage(error);
  setTrailerStatus(trailer, sendable);
  dropLongDetails(trailer);
  trailer.set(headerGrpcMessage, escapeMessage(sendable.rawMessage));
}

function dropLongDetails(trailer: Headers): void {
  const { length = 0 } = trailer.get(headerStatusDetailsBin) ?? {};
  if (length > maxDetailsLength) trailer.delete(headerStatusDetailsBin);
}

/**
 * Escapes a `grpc-message` by gRPC's rule: only `%` and characters that are not printable ASCII. Connect also escapes
 * punctuation, which grpc-js then shows to people unchanged (`ended%3B`).
 */
function escapeMessage(message: string): string {
  return message.replace(/[^ -$&-~]/gu, encodeURIComponent);
}

function withSendableMessage({ rawMessage, code, metadata, details }: ConnectError): ConnectError {
  const error = new ConnectError(cutOff(rawMessage), code, metadata);
  error.details = details;
  return error;
}

/** Half a surrogate pair cannot be escaped. It may come from a text that was cut off there, so it is replaced. */
function cutOff(message: string): string {
  const isLong = message.length > maxMessageLength;
  return (isLong ? `${message.slice(0, maxMessageLength)}…` : message).toWellFormed();
}

/**
 * The response of one of Connect's handlers, with its `grpc-message` escaped in our way, and cut off like ours: Connect repeats a wrong
 * header in it, however long.
 */
export function withPlainStatusMessage(response: HttpResponse): HttpResponse {
  const { header, body, trailer } = response;
  if (!header?.get("content-type")?.startsWith("application/grpc")) {
    return response;
  }
  escapeAsGrpc(header);
  if (typeof body !== "object" || body instanceof Uint8Array || trailer === undefined) {
    return response;
  }
  return { ...response, body: whenEnded(body, () => escapeAsGrpc(trailer)) };
}

function escapeAsGrpc(trailer: Headers): void {
  const escaped = trailer.get(headerGrpcMessage);
  if (escaped !== null) trailer.set(headerGrpcMessage, escapeMessage(cutOff(unescapeMessage(escaped))));
  dropLongDetails(trailer);
}

function unescapeMessage(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch {
    return escaped;
  }
}

/**
 * Calls `ended` when the body has ended (only then the trailers exist), or when its reader leaves it. This is not a generator, because
 * that would delay each chunk, and could not be left before its first.
 */
export function whenEnded(body: AsyncIterable<Uint8Array>, ended: () => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = body[Symbol.asyncIterator]();
      return {
        next: () =>
          iterator.next().then(
            (result) => {
              if (result.done === true) ended();
              return result;
            },
            (error) => {
              ended();
              throw error;
            },
          ),
        return: () => {
          ended();
          return iterator.return?.() ?? Promise.resolve({ done: true, value: undefined });
        },
      };
    },
  };
}
