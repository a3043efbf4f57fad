import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect, createServer } from "node:net";
import { createMemoryTaskStore, type TurnAgent } from "@a2a-connect/server";
import { expect, it, onTestFinished } from "vitest";
import { createGate } from "../../test-support/handlers.ts";
import {
  formatFrame,
  frameTypes,
  type Http2Frame,
  parseFrames,
  requestFrame,
} from "../../test-support/http2-frames.ts";
import { serve } from "../serve.ts";
import { connectAgent } from "./connect-from-node.ts";
import { GrpcSession } from "./grpc-session.ts";

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const noError = 0;

/** An agent over gRPC alone, behind a relay that keeps what its callers have sent. */
async function startRelayed(agent: TurnAgent) {
  let sent = "";
  const ended = createGate();
  const relay = createServer((caller) => {
    const server = connect(port, "127.0.0.1");
    caller.on("data", (chunk: Buffer) => {
      sent += chunk.toString("latin1");
    });
    caller.on("close", () => {
      server.destroy();
      ended.open();
    });
    for (const socket of [caller, server]) socket.on("error", () => undefined);
    caller.pipe(server).pipe(caller);
  }).listen(0, "127.0.0.1");
  await once(relay, "listening");
  const address = relay.address() as AddressInfo; // of a TCP server that listens
  const publicUrl = `http://127.0.0.1:${address.port}`;
  const { port, url, close } = await serve(agent, { store: createMemoryTaskStore(), publicUrl });
  onTestFinished(async () => {
    relay.close();
    await close({ graceMs: 0 });
  });
  const frames = async (): Promise<Http2Frame[]> => {
    await ended.opened;
    expect(sent).toMatch(preface);
    return parseFrames(sent.slice(preface.length));
  };
  return { url, frames };
}

/** Its error code (RFC 9113 §6.8). */
function goAwayCodes(frames: readonly Http2Frame[]): number[] {
  return frames
    .filter(({ type }) => type === frameTypes.goAway)
    .map(({ payload }) => payload.readUInt32BE(4));
}

it("ends an idle connection without an error code", async () => {
  const agent: TurnAgent = {
    card: { name: "Agent" },
    async *execute(turn) {
      yield turn.artifact({ text: "done" });
    },
  };
  const { url, frames } = await startRelayed(agent);
  const client = await connectAgent(url, { pinBinding: "GRPC" });
  await client.sendMessage("hello");
  await client.close();
  expect(goAwayCodes(await frames())).toEqual([noError]);
});

it("ends a connection with a call on it without an error code, and the call as canceled", async () => {
  const begun = createGate();
  const agent: TurnAgent = {
    card: { name: "Agent" },
    async *execute(turn) {
      yield turn.working();
      begun.open();
      await new Promise((resolve) => turn.signal.addEventListener("abort", resolve, { once: true }));
    },
  };
  const { url, frames } = await startRelayed(agent);
  const client = await connectAgent(url, { pinBinding: "GRPC" });
  const sent = client.sendMessage("hello").catch((error: unknown) => error);
  await begun.opened;
  await client.close();
  expect(await sent).toMatchObject({ message: expect.stringContaining("closed") });
  expect(goAwayCodes(await frames())).toEqual([noError]);
});

it("survives a server that pushes before it knows that nothing is taken, and resets what it pushed", async () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  process.on("uncaughtException", note);
  onTestFinished(() => void process.off("uncaughtException", note));
  const settings = formatFrame({ type: 4, flags: 0, streamId: 0, payload: Buffer.alloc(0) });
  const promised = (streamId: number) => {
    const id = Buffer.alloc(4);
    id.writeUInt32BE(streamId);
    return formatFrame({
      type: 5,
      flags: 4,
      streamId: 1,
      payload: Buffer.concat([id, requestFrame(0).subarray(9)]),
    });
  };
  const reset = (streamId: number) =>
    formatFrame({ type: 3, flags: 0, streamId, payload: Buffer.from([0, 0, 0, 11]) }); // ENHANCE_YOUR_CALM
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () =>
      socket.write(Buffer.concat([settings, promised(2), reset(2), promised(4), reset(1)])),
    );
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server that listens
  const session = new GrpcSession(async () => connectHttp2(`http://127.0.0.1:${port}`));
  const { stream } = await session.request({ ":method": "POST", ":path": "/x" });
  stream.on("error", () => undefined);
  await new Promise((resolve) => stream.once("close", resolve));
  session.abort(new Error("the test is over"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(uncaught).toEqual([]);
});
