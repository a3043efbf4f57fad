import { connect } from "node:http2";
import { gzipSync } from "node:zlib";
import { SendMessageRequestSchema } from "@a2a-connect/proto";
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { encodeEnvelope } from "../load/envelope.ts";
import { protocolVersion } from "../load/http1-request.ts";
import type { Target } from "../servers/control.ts";
import type { AttackGroup } from "./attack.ts";
import { exchange } from "./http.ts";
import { type Shape, shapes } from "./shapes.ts";

/** Of an envelope that has trailers in it (gRPC-Web). */
const trailerFlag = 0x80;
const grpcPath = "/lf.a2a.v1.A2AService/SendMessage";

/** Sends a body that is ready for the wire, and tells whether the answer is a success. */
type Send = (target: Target, body: Buffer, gzip: boolean) => Promise<boolean>;

/** Every shape over every wire that can say it. */
export const largeRequests: readonly AttackGroup[] = [
  group("JSON-RPC", true, rpcBody, async (target, body, gzip) => {
    const { status, head } = await exchange(target.httpPort, target.jsonRpcPath, body, coding(gzip));
    return status === 200 && head.includes('"result"');
  }),
  group("HTTP+JSON", true, jsonBody, async (target, body, gzip) => {
    const path = `${target.httpJsonPath}/message:send`;
    return (await exchange(target.httpPort, path, body, coding(gzip))).status === 200;
  }),
  group("Connect", false, jsonBody, async (target, body, gzip) => {
    return (await exchange(target.httpPort, grpcPath, body, coding(gzip))).status === 200;
  }),
  group("gRPC-Web", false, undefined, async (target, body) => {
    const fields = { "content-type": "application/grpc-web+proto", "grpc-encoding": "gzip" };
    const { head } = await exchange(target.httpPort, grpcPath, body, fields);
    return head.length > 0 && ((head[0] ?? 0) & trailerFlag) === 0; // a message comes before the trailers
  }),
  group("gRPC", true, undefined, sendGrpc),
];

/** @param text makes the body of a JSON wire; without it the wire is a binary one */
function group(
  wire: string,
  shared: boolean,
  text: ((message: string) => string) | undefined,
  send: Send,
): AttackGroup {
  const attacks = shapes
    .filter(({ binary }) => binary || text !== undefined)
    .map((shape) => ({
      name: shape.name,
      expected: shape.allowed ? ("taken" as const) : ("refused" as const),
      prepare() {
        const gzip = shape.gzip === true;
        const plain = text === undefined ? binaryMessage(shape) : Buffer.from(text(shape.message()));
        const coded = gzip ? gzipSync(plain) : plain;
        const body = text === undefined ? envelope(coded, gzip) : coded;
        return async (target: Target) => ((await send(target, body, gzip)) ? "taken" : "refused");
      },
    }));
  return { wire, shared, attacks };
}

function jsonBody(message: string): string {
  return `{"message":${message}}`;
}

function rpcBody(message: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${jsonBody(message)}}`;
}

function coding(gzip: boolean): Record<string, string> {
  return gzip ? { "content-encoding": "gzip" } : {};
}

function binaryMessage(shape: Shape): Buffer {
  const json = JSON.parse(jsonBody(shape.message())) as JsonValue; // parsed JSON
  const message = fromJson(SendMessageRequestSchema, json, { recursionLimit: 1_000 });
  return Buffer.from(toBinary(SendMessageRequestSchema, message));
}

function envelope(message: Buffer, compressed: boolean): Buffer {
  const bytes = encodeEnvelope(message);
  bytes[0] = compressed ? 1 : 0;
  return bytes;
}

async function sendGrpc(target: Target, body: Buffer): Promise<boolean> {
  const session = connect(`http://127.0.0.1:${target.grpcPort}`);
  session.on("error", () => {}); // the stream tells
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": grpcPath,
      "content-type": "application/grpc",
      te: "trailers",
      "a2a-version": protocolVersion,
      "grpc-encoding": "gzip",
    });
    let status: unknown;
    const note = (fields: Record<string, unknown>) => {
      status = fields["grpc-status"] ?? status;
    };
    stream.on("response", note).on("trailers", note); // an answer without messages has its trailers in its header
    stream.on("error", () => {}); // cut off while it still sends: "close" follows
    stream.end(body);
    stream.resume();
    await new Promise((resolve) => stream.once("close", resolve));
    return status === "0";
  } finally {
    session.destroy();
  }
}
