import { connect, createServer, type OutgoingHttpHeaders, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";

/** An answer of gRPC on its way, to be changed in place. */
export interface PassingGrpcAnswer {
  /** For example `/lf.a2a.v1.A2AService/GetTask`. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** The frames of its messages, one after the other. */
  body: Buffer;
  /** Undefined when they are in the headers (Trailers-Only). */
  trailers: OutgoingHttpHeaders | undefined;
}

/** An agent's gRPC behind a proxy that breaks something. Streams pass only when they have ended. */
export async function startAlteringGrpcProxy(
  origin: string,
  alter: (answer: PassingGrpcAnswer) => void,
): Promise<AsyncDisposable & { readonly address: string }> {
  const behind = connect(origin);
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", async (stream, { ":authority": _authority, ...asked }) => {
    stream.on("error", () => {}); // the caller has left
    const request = behind.request(asked);
    stream.on("close", () => request.close());
    request.end(Buffer.concat(await Array.fromAsync<Buffer>(stream)));
    const answer: PassingGrpcAnswer = {
      path: String(asked[":path"]),
      headers: {},
      body: Buffer.alloc(0),
      trailers: undefined,
    };
    request.on("response", (headers) => Object.assign(answer.headers, headers));
    request.on("trailers", (trailers) => {
      answer.trailers = { ...trailers };
    });
    answer.body = Buffer.concat(await Array.fromAsync<Buffer>(request).catch(() => []));
    if (stream.destroyed) return;
    alter(answer);
    const { headers, body, trailers } = answer;
    if (trailers === undefined && body.length === 0) {
      stream.respond(headers, { endStream: true });
      return;
    }
    stream.respond(headers, { waitForTrailers: trailers !== undefined });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers ?? {}));
    stream.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`, // it listens on a port
    async [Symbol.asyncDispose]() {
      behind.destroy();
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
