import { describe, expect, it } from "vitest";
import { frame } from "./framing.ts";
import { messageWithText, requestOf } from "./protobuf-bytes.ts";
import { findProblem, serveTarget } from "./target.ts";
import { encodeBytes, encodeCall, isFramed, type Wire, wires } from "./wires.ts";

const target = serveTarget();

const json = '{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"task types"}]}}';

const wrongTypes = [
  undefined,
  "",
  "text/plain",
  "text/html",
  "application/xml",
  "application/jsonp",
  "application/octet-stream",
  "multipart/form-data; boundary=x",
  "application/x-www-form-urlencoded",
  "json",
  "/",
  "application/",
  "application/json, text/plain",
  "\u00e9\u00e8/x",
  "a".repeat(1_000),
];

describe("a body of a type that the wire does not take", () => {
  for (const wire of wires.filter(({ protocol }) => protocol === "jsonrpc" || protocol === "http-json")) {
    for (const type of wrongTypes) {
      it(`is refused over ${wire.name}: ${type?.slice(0, 40) ?? "none"}`, async () => {
        const call = { method: "SendMessage", json, fields: { "content-type": type } } as const;
        const refusal = await target.refuses(wire, encodeCall(wire, call), { error: "contentType" });
        expect(refusal.metadata["supportedTypes"]).toContain("application/json");
      });
    }
  }

  it("is refused over JSON-RPC: that of the other JSON wire (I-1)", async () => {
    const [wire] = wires as readonly [Wire];
    const call = { method: "SendMessage", json, fields: { "content-type": "application/a2a+json" } } as const;
    await target.refuses(wire, encodeCall(wire, call), { error: "contentType" });
  });

  for (const wire of wires.filter(({ protocol }) => protocol !== "jsonrpc" && protocol !== "http-json")) {
    for (const type of [
      ...wrongTypes,
      "application/grpc-bogus",
      "application/grpc+xml",
      "application/connect+xml",
    ]) {
      it(`is refused with 415 at the path of ${wire.name}: ${type?.slice(0, 40) ?? "none"}`, async () => {
        const call = { method: "SendMessage", json, fields: { "content-type": type } } as const;
        const answer = await target.send(encodeCall(wire, call));
        expect(answer.status).toBe(415);
        expect(answer.fields.get("content-type")).toBe("application/json");
        expect(JSON.parse(new TextDecoder().decode(answer.body))).toMatchObject({
          code: "unimplemented",
          message: expect.any(String),
        });
        await target.answersGoodCall(wire);
      });
    }
  }
});

describe("another spelling of a content type", () => {
  for (const wire of wires.filter(({ codec }) => codec === "json")) {
    it.each([
      ["a parameter", (type: string) => `${type}; charset=utf-8`],
      ["upper case", (type: string) => type.toUpperCase()],
    ])(`changes nothing over ${wire.name}: %s`, async (_, spell) => {
      const request = encodeCall(wire, { method: "SendMessage", json });
      const type = spell(request.fields["content-type"] ?? "");
      const answer = await target.send({ ...request, fields: { ...request.fields, "content-type": type } });
      expect(findProblem(wire, answer)).toBeUndefined();
    });
  }
});

describe("a body in a coding that nobody knows", () => {
  const message = requestOf(messageWithText(new TextEncoder().encode("x")));
  for (const wire of wires) {
    for (const coding of ["bogus", "deflate", "gzip, gzip", "__proto__"]) {
      it(`is refused over ${wire.name}: ${coding}`, async () => {
        const bytes = wire.codec === "json" ? new TextEncoder().encode(json) : message;
        const request = isFramed(wire)
          ? { ...encodeBytes(wire, bytes, { "grpc-encoding": coding }), body: frame(bytes, 1) }
          : encodeBytes(wire, bytes, { "content-encoding": coding });
        if (wire.protocol === "jsonrpc" || wire.protocol === "http-json") {
          const refusal = await target.refuses(wire, request, { error: "contentType" });
          expect(refusal.metadata["supportedEncodings"]).toBe("gzip,br,identity");
        } else {
          // Unimplemented, as gRPC's and Connect's own specifications have it.
          const refusal = await target.refuses(wire, request, { error: "unknownMethod" });
          expect(refusal.message).toContain("gzip,br");
        }
      });
    }
  }
});
