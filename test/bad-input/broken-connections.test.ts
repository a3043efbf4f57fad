import { once } from "node:events";
import { connect, constants } from "node:http2";
import { describe, expect, it } from "vitest";
import { openConnection } from "./connection.ts";
import { serveTarget } from "./target.ts";
import { encodeCall, type Wire, wires } from "./wires.ts";

const target = serveTarget();
const [jsonRpc] = wires as readonly [Wire];

const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "task broken" }] };
const send = JSON.stringify({ message });

/** A request head for this wire, and its body. */
function encodeHttp1(wire: Wire): { readonly head: string; readonly body: string } {
  const {
    verb,
    target: path,
    fields,
    body = new Uint8Array(),
  } = encodeCall(wire, {
    method: "SendMessage",
    json: send,
  });
  const lines = Object.entries({ ...fields, host: "localhost", "content-length": body.byteLength });
  const head = `${verb} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  return { head, body: Buffer.from(body).toString("latin1") };
}

describe("a caller that leaves in the middle of its request", () => {
  for (const wire of wires.filter(({ http }) => http === 1)) {
    for (const leave of ["destroy", "end", "resetAndDestroy"] as const) {
      it(`harms nobody over ${wire.name}: ${leave}`, async () => {
        const { head, body } = encodeHttp1(wire);
        const pieces = [head.slice(0, 20), head.slice(0, -2), head, head + body.slice(0, body.length / 2)];
        for (const piece of pieces) {
          const connection = await openConnection(target.port);
          await connection.write(piece);
          connection.socket[leave]();
          await connection.ended();
        }
        await target.answersGoodCall(wire);
        expect(target.log).toEqual([]);
      });
    }
  }

  it("harms nobody over gRPC: half a message, then a reset stream or a lost connection", async () => {
    const wire = wires.find(({ protocol }) => protocol === "grpc") ?? jsonRpc;
    const { verb, target: path, fields, body } = encodeCall(wire, { method: "SendMessage", json: send });
    const session = connect(target.url);
    session.on("error", () => undefined);
    for (let round = 0; round < 20; round++) {
      const stream = session.request({ ":method": verb, ":path": path, ...fields });
      stream.on("error", () => undefined);
      stream.write(body?.subarray(0, 7));
      stream.close(constants.NGHTTP2_CANCEL);
      await once(stream, "close");
    }
    const last = session.request({ ":method": verb, ":path": path, ...fields });
    last.on("error", () => undefined);
    await new Promise<void>((resolve) => {
      last.write(body?.subarray(0, 7), () => resolve());
    });
    session.destroy();
    await target.answersGoodCall(wire);
    expect(target.log).toEqual([]);
  });
});

describe("a caller that leaves in the middle of its answer", () => {
  it("does not end the task, nor the stream of another (A-26)", async () => {
    const sleep = JSON.stringify({ message: { ...message, parts: [{ text: "sleep 600000" }] } });
    const streams = await Promise.all(
      ["SendStreamingMessage", "SendStreamingMessage"].map(async () => {
        const { body = new Uint8Array() } = encodeCall(jsonRpc, {
          method: "SendStreamingMessage",
          json: sleep,
        });
        const connection = await openConnection(target.port);
        await connection.write(
          `POST /rpc HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: ${body.byteLength}\r\n\r\n`,
        );
        await connection.write(body);
        return { connection, seen: await connection.until("TASK_STATE_WORKING") };
      }),
    );
    for (const { connection, seen } of streams) {
      const id = /"task":\{"id":"([^"]+)"/.exec(seen)?.[1] ?? "";
      connection.socket.resetAndDestroy();
      await connection.ended();
      const answer = await target.send(
        encodeCall(jsonRpc, { method: "GetTask", json: JSON.stringify({ id }) }),
      );
      expect(new TextDecoder().decode(answer.body)).toContain("TASK_STATE_WORKING");
      const cancel = `/rest/tasks/${id}:cancel`;
      const canceled = await target.send({
        http: 1,
        verb: "POST",
        target: cancel,
        fields: { "a2a-version": "1.0" },
      });
      expect(new TextDecoder().decode(canceled.body)).toContain("TASK_STATE_CANCELED");
    }
  });
});

describe("500 connections that come and go", () => {
  it("leave nothing open", async () => {
    const before = await countSockets(20);
    const { head, body } = encodeHttp1(jsonRpc);
    const greetings = [
      "",
      "G",
      "PRI * HT",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      head,
      head + body.slice(0, 9),
      head + body,
    ];
    const ways = ["destroy", "end", "resetAndDestroy"] as const;
    const bursts = Array.from({ length: 10 }, (_, burst) => burst);
    for (const burst of bursts) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          const connection = await openConnection(target.port);
          const greeting = greetings[(burst + index) % greetings.length] ?? "";
          if (greeting !== "") await connection.write(greeting);
          connection.socket[ways[index % ways.length] ?? "destroy"]();
          await connection.ended();
        }),
      );
    }
    expect(await countSockets(500, before)).toBeLessThanOrEqual(before);
    expect(target.log).toEqual([]);
  });
});

/**
 * The fewest sockets that this process has between so many good calls, the server's ends among them. Stops early when
 * they are no more than `enough`.
 */
async function countSockets(calls: number, enough = 0): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  for (let call = 0; call < calls && fewest > enough; call++) {
    await target.answersGoodCall();
    const open = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    fewest = Math.min(fewest, open);
  }
  return fewest;
}
