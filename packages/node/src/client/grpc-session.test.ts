import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { createMemoryTaskStore, type TurnAgent } from "@a2a-connect/server";
import { expect, it, onTestFinished } from "vitest";
import { createGate } from "../../test-support/handlers.ts";
import { frameTypes, type Http2Frame, parseFrames } from "../../test-support/http2-frames.ts";
import { serve } from "../serve.ts";
import { connectAgent } from "./connect-from-node.ts";

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
