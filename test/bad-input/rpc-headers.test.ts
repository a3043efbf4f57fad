import { describe, expect, it } from "vitest";
import { findProblem, serveTarget } from "./target.ts";
import { encodeCall, type Protocol, wires } from "./wires.ts";

const target = serveTarget();

/** Fields that only gRPC, gRPC-Web and Connect know. */
const refused: Readonly<Partial<Record<Protocol, readonly Record<string, string>[]>>> = {
  grpc: [
    { "grpc-timeout": "banana" },
    { "grpc-timeout": "-1S" },
    { "grpc-timeout": "1X" },
    { "grpc-timeout": "999999999S" },
  ],
  "grpc-web": [{ "grpc-timeout": "banana" }, { "grpc-timeout": "1" }],
  connect: [
    { "connect-timeout-ms": "banana" },
    { "connect-timeout-ms": "-5" },
    { "connect-timeout-ms": "99999999999" },
  ],
};

const taken: readonly Record<string, string>[] = [
  { "x-data-bin": "***" },
  { "a2a-extensions": ",,urn:nobody:knows,, ," },
  { "a2a-extensions": "x".repeat(10_000) },
  { "accept-encoding": "bogus, *;q=0" },
  { accept: "text/html" },
  { "connect-protocol-version": "9" },
];

for (const wire of wires) {
  for (const fields of refused[wire.protocol] ?? []) {
    it(`is refused over ${wire.name}: ${JSON.stringify(fields)}`, async () => {
      await target.refuses(wire, encodeCall(wire, { method: "ListTasks", fields }), {
        error: "invalidParams",
      });
    });
  }
  for (const fields of taken) {
    it(`is ignored over ${wire.name}: ${JSON.stringify(fields).slice(0, 40)}`, async () => {
      const answer = await target.send(encodeCall(wire, { method: "ListTasks", fields }));
      expect(findProblem(wire, answer)).toBeUndefined();
    });
  }
}

describe("a deadline that has no time left", () => {
  for (const wire of wires.filter(({ protocol }) => protocol === "grpc" || protocol === "connect")) {
    it(`ends the call over ${wire.name}, and nothing else`, async () => {
      const field = wire.protocol === "grpc" ? { "grpc-timeout": "1m" } : { "connect-timeout-ms": "1" };
      const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "sleep 2000" }] };
      const json = JSON.stringify({ message });
      const answer = await target.send(encodeCall(wire, { method: "SendMessage", json, fields: field }));
      const status = answer.fields.get("grpc-status") ?? answer.trailers.get("grpc-status");
      expect(wire.protocol === "grpc" ? status : String(answer.status)).toMatch(/^(4|504)$/);
      await target.answersGoodCall(wire);
    });
  }
});
