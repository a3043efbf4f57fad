import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { frame } from "./framing.ts";
import { messageWithText, requestOf } from "./protobuf-bytes.ts";
import type { RawRequest } from "./raw-call.ts";
import { findProblem, serveTarget, type Target } from "./target.ts";
import { encodeBytes, isFramed, type Wire, wires, wrapParams } from "./wires.ts";

const kibibyte = 1_024;
const smallLimit = 8 * kibibyte;
/** The default that design.md promises. */
const defaultLimit = 16 * kibibyte * kibibyte;

const small = serveTarget({ wires: { maxBodyBytes: smallLimit } });
const normal = serveTarget();

/** Wires with the same bodies share them: megabytes take long to write and to pack. */
const made = new Map<string, Uint8Array>();
afterAll(() => made.clear());

function makeOnce(what: string, make: () => Uint8Array): Uint8Array {
  const bytes = made.get(what) ?? make();
  made.set(what, bytes);
  return bytes;
}

/** What decides on the bytes of a request message. */
const bodyOf = ({ codec, protocol }: Wire): string => (protocol === "jsonrpc" ? protocol : codec);

/** A good request message of exactly this many bytes. */
function messageOf(wire: Wire, length: number): Uint8Array {
  return makeOnce(`${bodyOf(wire)} ${length}`, () => {
    let text = length - withText(wire, "").byteLength;
    for (;;) {
      const bytes = withText(wire, "x".repeat(text));
      if (bytes.byteLength <= length) {
        // Past a boundary of a varint the size jumps by two; an ignored member of JSON would not do for protobuf.
        if (bytes.byteLength < length) throw new Error(`there is no message of ${length} bytes`);
        return bytes;
      }
      text -= bytes.byteLength - length;
    }
  });
}

function withText(wire: Wire, text: string): Uint8Array {
  const encoder = new TextEncoder();
  if (wire.codec === "proto") return requestOf(messageWithText(encoder.encode(text)));
  const json = JSON.stringify({ message: { messageId: "m-1", role: "ROLE_USER", parts: [{ text }] } });
  return encoder.encode(wire.protocol === "jsonrpc" ? wrapParams({ method: "SendMessage", json }) : json);
}

function packQuickly(bytes: Uint8Array): Uint8Array {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
}

async function expectRefused(target: Target, wire: Wire, limit: number): Promise<void> {
  const refusal = await target.refuses(wire, encodeBytes(wire, messageOf(wire, limit + 1)), {
    error: "bodyTooLarge",
  });
  expect(refusal.metadata["maxBytes"]).toBe(String(limit));
}

function requestIn(coding: string, wire: Wire, packed: Uint8Array): RawRequest {
  return isFramed(wire)
    ? { ...encodeBytes(wire, packed, { "grpc-encoding": coding }), body: frame(packed, 1) }
    : encodeBytes(wire, packed, { "content-encoding": coding });
}

for (const wire of wires) {
  describe(`the size of a body over ${wire.name}`, () => {
    it("may be exactly the limit", async () => {
      const answer = await small.send(encodeBytes(wire, messageOf(wire, smallLimit)));
      expect(findProblem(wire, answer)).toBeUndefined();
    });

    it("may not be one byte more", () => expectRefused(small, wire, smallLimit));

    it("may not be one byte more than 16 MiB by default", () => expectRefused(normal, wire, defaultLimit));

    for (const [coding, pack] of [
      ["gzip", gzipSync],
      ["br", packQuickly],
    ] as const) {
      const packedMessage = (length: number): Uint8Array =>
        makeOnce(`${bodyOf(wire)} ${length} ${coding}`, () => pack(messageOf(wire, length)));
      const packedRequest = (packed: Uint8Array): RawRequest => requestIn(coding, wire, packed);

      it(`may not be one byte more when ${coding} is taken off`, async () => {
        const packed = packedMessage(smallLimit + 1);
        expect(packed.byteLength).toBeLessThan(kibibyte);
        await small.refuses(wire, packedRequest(packed), { error: "bodyTooLarge" });
      });

      it(`may be 4 MiB when ${coding} is taken off, and beyond that 200 times what was sent`, async () => {
        const fine = await normal.send(packedRequest(packedMessage(4 * kibibyte * kibibyte)));
        expect(findProblem(wire, fine)).toBeUndefined();
        const tooMuch = packedRequest(packedMessage(4 * kibibyte * kibibyte + 1));
        const refusal = await normal.refuses(wire, tooMuch, { error: "bodyTooLarge" });
        expect(refusal.metadata["maxCompressionRatio"]).toBe("200");
      });
    }

    it("may not be more than 256 KiB in brotli", async () => {
      const request = requestIn("br", wire, new Uint8Array(256 * kibibyte + 1));
      const refusal = await normal.refuses(wire, request, { error: "bodyTooLarge" });
      expect(refusal.metadata["maxBytes"]).toBe(String(256 * kibibyte));
    });
  });
}
