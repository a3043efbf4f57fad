import type { Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";

/** An interceptor that replaces what a call, or the stream of its messages, fails with. */
export function translateErrors(
  translate: (thrown: unknown, request: UnaryRequest | StreamRequest) => unknown,
): Interceptor {
  return (next) => async (request) => {
    try {
      const response = await next(request);
      return response.stream
        ? { ...response, message: translateEach(response.message, (thrown) => translate(thrown, request)) }
        : response;
    } catch (thrown) {
      throw translate(thrown, request);
    }
  };
}

async function* translateEach<T>(
  messages: AsyncIterable<T>,
  translate: (thrown: unknown) => unknown,
): AsyncGenerator<T, void> {
  try {
    yield* messages;
  } catch (thrown) {
    throw translate(thrown);
  }
}
