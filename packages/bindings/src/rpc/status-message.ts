import type { HttpResponse } from "../http.ts";
import { escapeMessage } from "./status-trailer.ts";

const name = "grpc-message";

/** The response of one of Connect's handlers, with its `grpc-message` escaped in our way. */
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

/** The trailers exist when the body has ended. This is not a generator, because that would delay each chunk. */
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
