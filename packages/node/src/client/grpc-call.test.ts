import { once } from "node:events";
import { connect, createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { expect, it, onTestFinished } from "vitest";
import { createGate } from "../../test-support/handlers.ts";
import type { ResponseTurn } from "./connections.ts";
import { GrpcCall } from "./grpc-call.ts";

/** A call to a server that does this with its stream. */
async function begin(answer: (stream: ServerHttp2Stream) => void, nextTurn: ResponseTurn) {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  server.on("stream", answer);
  const { port } = server.address() as AddressInfo; // of a TCP server that listens
  const session = connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => {
    session.destroy();
    server.close();
  });
  const stream = session.request({ ":method": "POST", ":path": "/" });
  const { signal } = new AbortController();
  return new GrpcCall(stream, Uint8Array.of(), { signal, maxBytes: 100, nextTurn });
}

it("reads messages that have come when the agent has a turn", async () => {
  const [asked, turn] = [createGate(), createGate()];
  const call = await begin(
    (stream) => stream.end(encodeEnvelope(0, Uint8Array.of(1, 2, 3))),
    () => {
      asked.open();
      return turn.opened;
    },
  );
  let hasMore: boolean | undefined;
  const more = call.more().then((answer) => {
    hasMore = answer;
  });
  await asked.opened;
  expect(hasMore).toBeUndefined();
  turn.open();
  await more;
  expect(hasMore).toBe(true);
  expect(call.takeReady()?.bytes).toEqual(Uint8Array.of(1, 2, 3));
});

it("ends with a server that sends interim answers without an end", async () => {
  const call = await begin(
    (stream) => {
      for (let count = 0; count < 17; count += 1) stream.additionalHeaders({ ":status": 103 });
      stream.respond({ ":status": 200 });
    },
    () => undefined,
  );
  await expect(call.head).rejects.toMatchObject({
    cause: { message: "the server sent too many interim answers" },
  });
});
