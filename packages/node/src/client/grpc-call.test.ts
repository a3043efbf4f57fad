import { once } from "node:events";
import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { expect, it } from "vitest";
import { createGate } from "../../test-support/handlers.ts";
import { GrpcCall } from "./grpc-call.ts";

it("reads messages that have come when the agent has a turn", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  server.on("stream", (stream) => stream.end(encodeEnvelope(0, Uint8Array.of(1, 2, 3))));
  const { port } = server.address() as AddressInfo; // of a TCP server that listens
  const session = connect(`http://127.0.0.1:${port}`);
  const [asked, turn] = [createGate(), createGate()];
  const nextTurn = () => {
    asked.open();
    return turn.opened;
  };
  const stream = session.request({ ":method": "POST", ":path": "/" });
  const { signal } = new AbortController();
  const call = new GrpcCall(stream, Uint8Array.of(), { signal, maxBytes: 100, nextTurn });
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
  session.destroy();
  server.close();
});
