import type { Message } from "@bufbuild/protobuf";
import { createContextKey, createContextValues, type Interceptor } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { explainFailure } from "../failure.ts";
import type { HttpRequest } from "../http.ts";
import type { BindingSettings } from "../options.ts";
import { decodeRequest, findFraming, type RequestFraming } from "./decode-request.ts";

/**
 * Connect's handlers parse requests themselves. They would answer malformed protobuf with Internal, read JSON by other
 * rules than our other wires, and have words of their own for a body that is too large. So we parse, and hand Connect an
 * empty message to carry along; an interceptor puts the real one in its place before anybody looks. What we throw comes
 * out of the body's iterator, and Connect writes it in the caller's protocol.
 */
interface Decoded {
  message?: Message;
}

const decodedKey = createContextKey<Decoded | undefined>(undefined, { description: "decoded request" });

/** Call one of Connect's handlers with a request that we decode. */
export function callDecoded(
  handler: UniversalHandler,
  request: HttpRequest,
  settings: BindingSettings,
): Promise<UniversalServerResponse> {
  const { httpVersion, url, method, header, signal } = request;
  const framing = method === "POST" ? findFraming(header.get("content-type")) : undefined;
  if (framing === undefined) {
    return handler(request); // which says what is wrong with it
  }
  const decoded: Decoded = {};
  return handler({
    httpVersion,
    url,
    method,
    header: framing.enveloped ? header : withoutBodyHeaders(header, settings),
    body: placeholder(
      decoded,
      decodeRequest.bind(undefined, handler.method.input, request, framing, settings),
      framing,
    ),
    signal,
    contextValues: createContextValues().set(decodedKey, decoded),
  });
}

async function* placeholder(
  decoded: Decoded,
  decode: () => Promise<Message>,
  framing: RequestFraming,
): AsyncGenerator<Uint8Array, void> {
  decoded.message = await decode();
  yield emptyMessage(framing);
}

/** An empty message in this framing, uncompressed. */
function emptyMessage({ enveloped, json }: RequestFraming): Uint8Array {
  const message = json ? [0x7b, 0x7d] : [];
  return Uint8Array.from(enveloped ? [0, 0, 0, 0, message.length, ...message] : message);
}

/** Without what no longer holds for the body. A coding that we do not know stays: Connect has an answer to it. */
function withoutBodyHeaders(header: Headers, { compressions }: BindingSettings): Headers {
  const copy = new Headers(header);
  copy.delete("content-length");
  if (compressions.some(({ name }) => name === header.get("content-encoding"))) {
    copy.delete("content-encoding");
  }
  return copy;
}

/**
 * The outermost interceptor: puts the decoded message in its place, and lets nothing out of a call but what a caller may
 * see.
 */
export function decodedCallInterceptor(
  settings: BindingSettings,
  wireOf: (header: Headers) => string,
): Interceptor {
  return (next) => async (request) => {
    const explain = (thrown: unknown) =>
      explainFailure(thrown, { wire: wireOf(request.header), method: request.method.name }, settings);
    const decoded = request.contextValues.get(decodedKey);
    try {
      if (!request.stream) {
        return await next(
          decoded?.message === undefined ? request : { ...request, message: decoded.message },
        );
      }
      const message = decoded === undefined ? request.message : replaceEach(request.message, decoded);
      const response = await next({ ...request, message });
      return response.stream ? { ...response, message: explainEach(response.message, explain) } : response;
    } catch (thrown) {
      throw explain(thrown);
    }
  };
}

async function* replaceEach(
  messages: AsyncIterable<Message>,
  decoded: Decoded,
): AsyncGenerator<Message, void> {
  for await (const message of messages) {
    yield decoded.message ?? message;
  }
}

async function* explainEach<T>(
  messages: AsyncIterable<T>,
  explain: (thrown: unknown) => Error,
): AsyncGenerator<T, void> {
  try {
    yield* messages;
  } catch (thrown) {
    throw explain(thrown);
  }
}
