import type { HttpResponse } from "../http.ts";
import { escapeMessage } from "./status-trailer.ts";

const name = "grpc-message";

/** The response of one of Connect's handlers with its `grpc-message` escaped as in ours. */
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

function escapeAsGrpc(header: Headers): void {
  const escaped = header.get(name);
  if (escaped !== null) {
    header.set(name, escapeMessage(unescapeMessage(escaped)));
  }
}

function unescapeMessage(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch {
    return escaped;
  }
}

/** Trailers are there when the body has ended. No generator: a chunk must not cost another turn. */
function whenEnded(body: AsyncIterable<Uint8Array>, ended: () => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = body[Symbol.asyncIterator]();
      return {
        next: () =>
          iterator.next().then((result) => {
            if (result.done === true) {
              ended();
            }
            return result;
          }),
        return: () => iterator.return?.() ?? Promise.resolve({ done: true, value: undefined }),
      };
    },
  };
}
