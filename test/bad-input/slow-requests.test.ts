import { describe, expect, it } from "vitest";
import { openConnection } from "./connection.ts";
import { createRawCaller } from "./raw-call.ts";
import { readRefusal } from "./refusal.ts";
import { expectDiscreet, serveTarget } from "./target.ts";
import { encodeCall, type Wire, wires } from "./wires.ts";

const target = serveTarget({ firstByteTimeoutMs: 100, headersTimeoutMs: 200, requestTimeoutMs: 300 });

describe("a caller that stops in the middle of its request", () => {
  const head =
    "POST /rpc HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n";
  for (const [title, bytes, answer] of [
    ["before its first byte", "", ""],
    ["in the preface of HTTP/2", "PRI * HTTP/2.0\r\n", ""],
    ["in the request line", "POST /r", "HTTP/1.1 408 "],
    ["in a field", head, "HTTP/1.1 408 "],
    ["in the body", `${head}Content-Length: 100\r\n\r\n{"jsonrpc":`, "HTTP/1.1 408 "],
    ["in a chunk", `${head}Transfer-Encoding: chunked\r\n\r\n20\r\n{"jsonrpc":`, "HTTP/1.1 408 "],
  ] as const) {
    it(`is told so and let go: ${title}`, async () => {
      using connection = await openConnection(target.port);
      if (bytes !== "") await connection.write(bytes);
      const received = await connection.ended();
      expect(received.slice(0, answer.length || 1)).toBe(answer);
      expectDiscreet(received);
      await target.answersGoodCall();
    });
  }

  it("is told so over gRPC, and its connection stays", async () => {
    const wire = wires.find(({ protocol }) => protocol === "grpc") as Wire; // it is in the list
    using caller = createRawCaller(target.url);
    const request = encodeCall(wire, { method: "ListTasks" });
    const refusal = readRefusal("grpc", await caller.call({ ...request, endless: true }));
    expect(refusal.code).toBe(4);
    await target.answersGoodCall(wire);
  });
});
