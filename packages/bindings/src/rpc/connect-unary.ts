import type { Message } from "@bufbuild/protobuf";
import { mergeNonProtocolHeaders } from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  errorToJson,
  headerTimeout,
  headerUnaryAcceptEncoding,
  headerUnaryEncoding,
  parseContentType,
  parseTimeout,
  trailerMux,
} from "@connectrpc/connect/protocol-connect";
import { readBody, type Sender, unlessRefused } from "../body.ts";
import { explainFailure } from "../failure.ts";
import type { HttpRequest, HttpResponse } from "../http.ts";
import type { BoundOperation, UnaryMethod } from "../invoke.ts";
import { encodeBody, isPieces } from "../large-answer.ts";
import type { BindingSettings } from "../options.ts";
import { jsonCodec, protoCodec } from "./codec.ts";
import { type CallHeaders, openCall } from "./open-call.ts";
import type { Codec, RpcProtocol } from "./protocol.ts";

/**
 * Connect for unary calls: plain HTTP, the message is the body. An error is JSON with a status of its own; trailers are
 * headers with a prefix. GET is not served: A2A declares no operation as free of side effects.
 */
export const connectUnary: RpcProtocol<UnaryMethod> = {
  findCodec(contentType) {
    const type = parseContentType(contentType);
    if (type === undefined || type.stream) {
      return undefined;
    }
    return type.binary ? protoCodec : jsonCodec;
  },
  answer,
};

const headers: CallHeaders = {
  wire: "connect",
  encoding: headerUnaryEncoding,
  acceptEncoding: headerUnaryAcceptEncoding,
  timeout: headerTimeout,
  parseTimeout,
};

/** Reads the message of a request, in a function of its own: a call may wait for hours, and would keep the whole body. */
async function readMessage(
  { bound }: BoundOperation<UnaryMethod>,
  codec: Codec,
  request: HttpRequest,
  settings: BindingSettings,
  caller: Sender,
): Promise<Message> {
  const bytes = unlessRefused(await readBody(request, settings, caller));
  const decoding = codec.decode(bound.desc.input, bytes, settings, caller.callerNetwork);
  if (codec === jsonCodec) request.body.freeBytes?.(); // its text was decoded at once
  const message = await decoding;
  await request.body.release?.();
  return message;
}

async function answer(
  operation: BoundOperation<UnaryMethod>,
  codec: Codec,
  request: HttpRequest,
  settings: BindingSettings,
): Promise<HttpResponse> {
  const { bound, method } = operation;
  const { context, responseCompression, refused, close } = openCall(headers, { bound }, request, settings);
  const { callerNetwork } = request;
  const caller = { signal: context.signal, callerNetwork };
  try {
    if (refused !== undefined) {
      throw refused;
    }
    const message = await readMessage(operation, codec, request, settings, caller);
    const response = await bound.call(message, context);
    const body = await codec.encodeResponse(operation, message, response, callerNetwork);
    return await respond(200, `application/${codec.name}`, body);
  } catch (thrown) {
    const error = explainFailure(thrown, { wire: headers.wire, method: method.name }, settings);
    if (!error.isWireError) {
      mergeNonProtocolHeaders(context.responseHeader, error.metadata); // a header of another server must not become ours
    }
    const body = JSON.stringify(errorToJson(error, undefined));
    return await respond(codeToHttpStatus(error.code), "application/json", body);
  } finally {
    close();
  }

  async function respond(
    status: number,
    mediaType: string,
    body: Uint8Array | string | Iterable<Uint8Array>,
  ): Promise<HttpResponse> {
    const { responseHeader, usedTrailer } = context;
    const header = usedTrailer === undefined ? responseHeader : trailerMux(responseHeader, usedTrailer);
    header.set("content-type", mediaType);
    const isSmall = !isPieces(body) && body.length < settings.compressMinBytes; // a character is at least one byte
    const coding = isSmall ? undefined : (responseCompression ?? undefined);
    return { status, header, body: await encodeBody(caller, body, coding, headers.encoding, header) };
  }
}
