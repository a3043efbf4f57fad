import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@bufbuild/protobuf";
import { createCardJson } from "../support/cards.ts";

/** A server of cleartext HTTP/2 that says it speaks gRPC. */
export interface BrokenGrpcServer extends AsyncDisposable {
  /** A card that is right, with this server as its only interface. */
  readonly card: JsonObject;
  /** Paths that were called so far. */
  readonly calls: readonly string[];
}

/** Starts one on a free port of this machine. */
export async function startBrokenGrpcServer(
  answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void | Promise<void>,
): Promise<BrokenGrpcServer> {
  const calls: string[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => {});
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => {
    calls.push(headers[":path"] ?? "");
    stream.on("error", () => {}); // clients that go away are what is tested
    stream.resume();
    void answer(stream, headers);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server
  return {
    card: createCardJson([{ url: `127.0.0.1:${port}`, protocolBinding: "GRPC", protocolVersion: "1.0" }]),
    calls,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends the header of a response that will have trailers. */
export function beginGrpc(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
}

/** Ends a response that was begun. */
export function endGrpc(stream: ServerHttp2Stream, status = 0, message = ""): void {
  stream.on("wantTrailers", () =>
    stream.sendTrailers({ "grpc-status": String(status), "grpc-message": message }),
  );
  stream.end();
}

/** A message in its envelope; `length` is what the envelope says about it. */
export function frame(message: Uint8Array, length: number = message.length, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}
