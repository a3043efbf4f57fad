import { Code, ConnectError } from "@connectrpc/connect";
import type { TransportSettings } from "./transport-options.ts";
import type { WireResponse } from "./wire-fetch.ts";

/** One HTTP request of a transport. */
export interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  /** Sent as they are. */
  readonly header: Headers;
  readonly accept: string;
  /** The media type and text of the body, if there is one. */
  readonly body?: { readonly mediaType: string; readonly text: string };
  readonly signal: AbortSignal;
}

const encoder = new TextEncoder();

/**
 * Sends a request.
 *
 * @throws ConnectError Unavailable when no response came; the signal's reason when it was aborted
 */
export async function sendRequest(
  request: OutgoingRequest,
  settings: TransportSettings,
): Promise<WireResponse> {
  const headers: Record<string, string> = {};
  request.header.forEach((value, name) => {
    headers[name] = value;
  });
  headers["accept"] = request.accept;
  const init: RequestInit = { method: request.method, headers, signal: request.signal };
  if (request.body !== undefined) {
    headers["content-type"] = request.body.mediaType;
    const bytes = encoder.encode(request.body.text);
    const { sendCompression, compressMinBytes } = settings;
    if (sendCompression === undefined || bytes.byteLength < compressMinBytes) {
      init.body = bytes;
    } else {
      headers["content-encoding"] = sendCompression.name;
      init.body = await sendCompression.compress(bytes);
    }
  }
  try {
    return await settings.fetch(request.url, init);
  } catch (thrown) {
    request.signal.throwIfAborted();
    if (thrown instanceof ConnectError) {
      throw thrown; // thrown by a `fetch` that classifies its errors itself
    }
    throw new ConnectError("the server could not be reached", Code.Unavailable, undefined, undefined, thrown);
  }
}
