import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { frame } from "./framing.ts";
import { messageWithText, requestOf, requestWithDeepMetadata } from "./protobuf-bytes.ts";
import type { RawRequest } from "./raw-call.ts";
import { type Expected, findProblem, serveTarget } from "./target.ts";
import { encodeBytes, isFramed, jsonWires, protoWires, type Wire, wires, wrapParams } from "./wires.ts";

const target = serveTarget();

const encoder = new TextEncoder();
const goodJson = '{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"task x"}]}}';
const notJson: Expected = { error: "parse" };

function bytesOf(...parts: readonly (string | readonly number[])[]): Uint8Array {
  return Buffer.concat(
    parts.map((part) => (typeof part === "string" ? encoder.encode(part) : Uint8Array.from(part))),
  );
}

function deepMetadata(depth: number): string {
  const metadata = `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;
  return goodJson.replace('"parts"', `"metadata":${metadata},"parts"`);
}

/** In JSON-RPC the message stands in an envelope. */
function envelope({ protocol }: Wire, json: string): string {
  return protocol === "jsonrpc" ? wrapParams({ method: "SendMessage", json }) : json;
}

describe("bytes that are no JSON", () => {
  /** Bodies of HTTP+JSON and Connect, messages of gRPC, whole bodies of JSON-RPC. */
  const rows: readonly (readonly [title: string, bytes: Uint8Array])[] = [
    ["half a message", bytesOf('{"message":{')],
    ["a word", bytesOf("hello")],
    ["one quote", bytesOf('"')],
    ["a trailing comma", bytesOf('{"message":null,}')],
    ["single quotes", bytesOf("{'message':{}}")],
    ["a comment", bytesOf("{/**/}")],
    ["NaN", bytesOf('{"message":NaN}')],
    ["two values", bytesOf("{}{}")],
    ["a control character in a string", bytesOf('{"a":"\n"}')],
    ["a NUL byte", bytesOf("{}", [0])],
    ["white space", bytesOf(" \r\n\t")],
    ["100,000 open brackets", bytesOf("[".repeat(100_000))],
    ["100,000 open braces", bytesOf('{"a":'.repeat(100_000))],
    ["protobuf", requestOf(messageWithText(encoder.encode("hi")))],
    ["invalid UTF-8 in a string", bytesOf('{"a":"', [0xff, 0xfe], '"}')],
    ["an overlong slash", bytesOf('{"a":"', [0xc0, 0xaf], '"}')],
    ["a surrogate in UTF-8", bytesOf('{"a":"', [0xed, 0xa0, 0x80], '"}')],
    ["UTF-16", Buffer.from(goodJson, "utf16le")],
    ["a member twice", bytesOf('{"message":null,"message":null}')],
  ];
  for (const wire of jsonWires) {
    for (const [title, bytes] of rows) {
      it(`are refused over ${wire.name}: ${title}`, async () => {
        await target.refuses(wire, encodeBytes(wire, bytes), notJson);
      });
    }
    it(`are refused over ${wire.name}: 100,000 brackets that are closed again`, async () => {
      const json = envelope(wire, `${"[".repeat(100_000)}${"]".repeat(100_000)}`);
      await target.refuses(wire, encodeBytes(wire, bytesOf(json)), notJson);
    });
  }
});

describe("JSON that is no message", () => {
  for (const wire of jsonWires.filter(({ protocol }) => protocol !== "jsonrpc")) {
    for (const json of ["[]", "null", "5", '"text"', "true", `[${goodJson}]`]) {
      it(`is refused over ${wire.name}: ${json.slice(0, 8)}`, async () => {
        await target.refuses(wire, encodeBytes(wire, bytesOf(json)), { error: "invalidParams" });
      });
    }
  }
});

describe("metadata that is nested too deep", () => {
  /** Of the 100 levels that design.md allows, the request and its message take two. */
  const deepest = 98;
  for (const wire of jsonWires) {
    for (const depth of [deepest + 1, 10_000]) {
      it(`is refused over ${wire.name}: ${depth} levels`, async () => {
        const request = encodeBytes(wire, bytesOf(envelope(wire, deepMetadata(depth))));
        await target.refuses(wire, request, { error: "invalidParams", field: /^message\.metadata\.a\.a/ });
      });
    }
  }
  for (const wire of protoWires) {
    it(`is refused over ${wire.name}: ${deepest + 1} levels`, async () => {
      const request = encodeBytes(wire, requestWithDeepMetadata(deepest + 1));
      await target.refuses(wire, request, { error: "invalidParams", field: /^message\.metadata\.a\.a/ });
    });
    it(`is refused over ${wire.name}: 10,000 levels, which nobody decodes to find out where they are`, async () => {
      await target.refuses(wire, encodeBytes(wire, requestWithDeepMetadata(10_000)), {
        error: "invalidParams",
      });
    });
  }
  for (const wire of wires) {
    it(`is taken over ${wire.name}, and can be read again: ${deepest} levels`, async () => {
      const bytes =
        wire.codec === "json"
          ? bytesOf(envelope(wire, deepMetadata(deepest)))
          : requestWithDeepMetadata(deepest);
      const answer = await target.send(encodeBytes(wire, bytes));
      expect(findProblem(wire, answer)).toBeUndefined();
      await target.answersGoodCall(wire); // a list with this task in it
    });
  }
});

describe("bytes that are no protobuf", () => {
  const good = requestOf(messageWithText(encoder.encode("hi")));
  const rows: readonly (readonly [title: string, bytes: Uint8Array])[] = [
    ["a message cut short", good.subarray(0, good.byteLength - 3)],
    ["a length beyond the end", bytesOf([0x12, 0x7f, 0x01])],
    ["a length of 4 GiB", bytesOf([0x12, 0xff, 0xff, 0xff, 0xff, 0x0f])],
    ["field number 0", bytesOf([0x02, 0x00])],
    ["wire type 6", bytesOf([0x16, 0x00])],
    ["wire type 7", bytesOf([0x17])],
    ["the end of a group that never began", bytesOf([0x14])],
    ["a group that never ends", bytesOf([0x13])],
    [
      "a varint of 11 bytes",
      bytesOf(
        [0x08],
        Array.from({ length: 10 }, () => 0xff),
        [0x01],
      ),
    ],
    ["a varint cut short", bytesOf([0xff])],
    ["10,000 groups inside each other", bytesOf(Array.from({ length: 10_000 }, () => 0x13))],
    ["JSON", bytesOf(goodJson)],
    ["invalid UTF-8 in a string", requestOf(messageWithText(Uint8Array.of(0xff, 0xfe)))],
    ["an overlong slash", requestOf(messageWithText(Uint8Array.of(0xc0, 0xaf)))],
  ];
  for (const wire of protoWires) {
    for (const [title, bytes] of rows) {
      it(`are refused over ${wire.name}: ${title}`, async () => {
        await target.refuses(wire, encodeBytes(wire, bytes), { error: "invalidParams" });
      });
    }
    it(`are taken over ${wire.name}: a field of the future`, async () => {
      const unknown = bytesOf([0xfa, 0x7f, 0x02, 0x68, 0x69]); // field 2047, two bytes
      const answer = await target.send(encodeBytes(wire, Buffer.concat([good, unknown])));
      expect(findProblem(wire, answer)).toBeUndefined();
    });
  }
});

describe("frames that do not hold what they say", () => {
  const message = requestOf(messageWithText(encoder.encode("hi")));
  const rows: readonly (readonly [title: string, body: Uint8Array])[] = [
    ["no frame at all", new Uint8Array()],
    ["half a head", bytesOf([0, 0])],
    ["a head without its message", frame(new Uint8Array(), 0, 10)],
    ["a message cut short", frame(message, 0, message.byteLength + 1)],
    ["a message with a tail", frame(message, 0, message.byteLength - 1)],
    ["4 GiB that never come", frame(message, 0, 0xffff_ffff)],
    ["a compressed message in a coding that nobody named", frame(gzipSync(message), 1)],
    ["a flag that means nothing", frame(message, 0x40)],
    ["trailers in place of a message", frame(bytesOf("grpc-status:0\r\n"), 0x80)],
  ];
  for (const wire of wires.filter((candidate) => isFramed(candidate) && candidate.codec === "proto")) {
    for (const [title, body] of rows) {
      it(`are refused over ${wire.name}: ${title}`, async () => {
        await target.refuses(wire, { ...encodeBytes(wire, message), body }, { error: "invalidParams" });
      });
    }
    it(`are refused over ${wire.name}: two messages for a call with one`, async () => {
      const body = Buffer.concat([frame(message), frame(message)]);
      await target.refuses(wire, { ...encodeBytes(wire, message), body }, { error: "invalidParams" });
    });
  }
});

describe("a compressed body", () => {
  /** The names of header fields that carry a message's coding, and the bytes in that coding. */
  function compress(wire: Wire, coding: string, bytes: Uint8Array): RawRequest {
    if (!isFramed(wire)) return encodeBytes(wire, bytes, { "content-encoding": coding });
    const request = encodeBytes(wire, bytes, { "grpc-encoding": coding });
    return { ...request, body: frame(bytes, 1) };
  }
  const codings = [
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ] as const;
  for (const wire of wires) {
    const good =
      wire.codec === "json" ? bytesOf(envelope(wire, goodJson)) : requestOf(messageWithText(bytesOf("hi")));
    for (const [coding, pack] of codings) {
      it(`is taken over ${wire.name}: ${coding}`, async () => {
        expect(findProblem(wire, await target.send(compress(wire, coding, pack(good))))).toBeUndefined();
      });
      it(`is refused over ${wire.name}: rubbish that says it is ${coding}`, async () => {
        await target.refuses(wire, compress(wire, coding, good), notJson);
      });
      it(`is refused over ${wire.name}: ${coding} cut short`, async () => {
        const packed = pack(good);
        await target.refuses(
          wire,
          compress(wire, coding, packed.subarray(0, packed.byteLength - 4)),
          notJson,
        );
      });
    }
  }
});
