// Bytes of whole connections: a request as a client writes it on its socket, damaged, and then the end of what the client says.

import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { createServer } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openConnection } from "../bad-input/connection.ts";
import { wires } from "../bad-input/wires.ts";
import { watchRejections } from "../client/watch-rejections.ts";
import { applyDamage, damage } from "./damage.ts";
import type { Entry } from "./entry.ts";
import { type FuzzedServer, startFuzzedServer, withinTime } from "./fuzzed-server.ts";
import { recorded } from "./recorded.ts";
import { fuzz } from "./runs.ts";

watchRejections();

let server: FuzzedServer;
const unchanged = { json: [], protobuf: [], compressed: false };
const sends = recorded.filter(({ method }) => method.name === "SendMessage");
const requestOver = (http: 1 | 2): Entry[] =>
  sends.filter(({ wire }) => wire.http === http).map((request) => request.make(unchanged));

/** The bytes of HTTP/2 connections with one request each, as Node's client writes them. */
let http2Bytes: readonly Uint8Array[] = [];

beforeAll(async () => {
  server = await startFuzzedServer();
  http2Bytes = await Promise.all(requestOver(2).map(recordHttp2));
});
afterAll(() => server[Symbol.asyncDispose]());

function writeHttp1({ verb, target, fields, body }: Entry): Uint8Array {
  const all = { host: "localhost", ...fields, "content-length": String(body.length), connection: "close" };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${verb} ${target} HTTP/1.1\r\n${head.join("")}\r\n`), body]);
}

/** A frame of HTTP/2 that ends a stream: DATA with the flag END_STREAM. */
const isLastFrame = (bytes: Buffer, at: number): boolean =>
  bytes[at + 3] === 0 && (bytes[at + 4] ?? 0) % 2 === 1;

/** What a client sends to a server that says nothing. */
async function recordHttp2({ verb, target, fields, body }: Entry): Promise<Uint8Array> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("the listener has no port");
  const accepted = once(listener, "connection");
  const session = connectHttp2(`http://127.0.0.1:${address.port}`);
  session.on("error", () => undefined); // it ends without an answer
  const stream = session.request({ ":method": verb, ":path": target, ...fields });
  stream.on("error", () => undefined);
  stream.end(body);
  const [socket] = await accepted;
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk]);
    if (endsWithRequest(bytes)) break;
  }
  session.destroy();
  listener.close();
  return bytes;
}

/** Whether the frames after the preface are whole, and one of them ends the request. */
function endsWithRequest(bytes: Buffer): boolean {
  const headBytes = 9;
  let at = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".length;
  let isEnded = false;
  while (at + headBytes <= bytes.length) {
    isEnded ||= isLastFrame(bytes, at);
    at += headBytes + bytes.readUIntBE(at, 3);
  }
  return isEnded && at === bytes.length;
}

/** Sends the bytes and says that there are no more. @returns what is wrong */
async function findConnectionFault(bytes: Uint8Array): Promise<string | undefined> {
  using connection = await openConnection(Number(new URL(server.url).port));
  await connection.write(bytes);
  connection.socket.end();
  const ended = await withinTime(connection.ended());
  if ("fault" in ended) return ended.fault;
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(ended.value)?.[1] ?? 0);
  return status === 500 || status === 502 || status === 503 ? ended.value : undefined;
}

it.each([1, 2] as const)("a connection of HTTP/%i is closed whatever bytes come", async (http) => {
  const good = http === 1 ? requestOver(1).map(writeHttp1) : http2Bytes;
  const damaged = fc
    .tuple(fc.nat({ max: good.length - 1 }), fc.array(damage, { minLength: 1, maxLength: 4 }))
    .map(([index, damages]) => damages.reduce<Uint8Array>(applyDamage, good[index] ?? new Uint8Array()));
  await fuzz(
    `connections of HTTP/${http}`,
    150,
    damaged,
    (bytes) => Buffer.from(bytes).toString("base64"),
    async (bytes) => {
      const fault = await findConnectionFault(bytes);
      if (fault !== undefined) throw new Error(fault);
    },
  );
  for (const _ of wires) expect(await server.echo()).toBeUndefined();
  expect(await server.findLeft()).toEqual([]);
});
