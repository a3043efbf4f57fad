import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { Readable } from "node:stream";
import { methods } from "@a2a-connect/core";
import { SubscribeToTaskRequestSchema } from "@a2a-connect/proto";
import type { Wire } from "@a2a-connect/testing";
import { create, toBinary } from "@bufbuild/protobuf";

/** A subscription as its bytes come. */
export interface RawStream {
  /** Resolves with the first bytes: the reader has its place from then on. */
  readonly opened: Promise<unknown>;
  /** The whole body. */
  readonly body: Promise<Buffer>;
}

/** Whom to ask, and how. */
export interface RawTarget {
  readonly url: string;
  /** For gRPC, which is the one wire that `fetch` cannot speak. */
  readonly session: ClientHttp2Session;
  readonly headers: Readonly<Record<string, string>>;
}

/** Subscribes to a task over a wire and looks at nothing but bytes. */
export async function openRaw(wire: Wire, target: RawTarget, id: string): Promise<RawStream> {
  const chunks = readable(await ask(wire, target, id));
  const parts: Buffer[] = [];
  const opened = Promise.withResolvers<void>();
  const read = async () => {
    for await (const chunk of chunks) {
      parts.push(Buffer.from(chunk));
      opened.resolve();
    }
    opened.resolve();
    return Buffer.concat(parts);
  };
  return { opened: opened.promise, body: read() };
}

async function ask(wire: Wire, { url, session, headers }: RawTarget, id: string) {
  const { grpcPath } = methods.subscribeToTask;
  const message = toBinary(SubscribeToTaskRequestSchema, create(SubscribeToTaskRequestSchema, { id }));
  const post = (path: string, type: string, body: string | Uint8Array<ArrayBuffer>) =>
    fetch(url + path, { method: "POST", headers: { ...headers, "content-type": type }, body });
  switch (wire) {
    case "grpc": {
      const fields = { "content-type": "application/grpc+proto", te: "trailers", ...headers };
      const stream = session.request({ ":method": "POST", ":path": grpcPath, ...fields });
      stream.end(envelope(message));
      await once(stream, "response");
      return stream;
    }
    case "grpc-web":
      return post(grpcPath, "application/grpc-web+proto", envelope(message));
    case "connect":
      return post(grpcPath, "application/connect+proto", envelope(message));
    case "jsonrpc":
      return post(
        "/rpc",
        "application/json",
        JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } }),
      );
    case "http-json":
      return fetch(`${url}/rest/tasks/${id}:subscribe`, { headers });
  }
}

function readable(answer: Response | Readable): AsyncIterable<Uint8Array> {
  return answer instanceof Readable ? answer : (answer.body ?? Readable.from([]));
}

/** A message without compression: one byte of flags, four of length. */
function envelope(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const framed = new Uint8Array(5 + message.length);
  new DataView(framed.buffer).setUint32(1, message.length);
  framed.set(message, 5);
  return framed;
}
