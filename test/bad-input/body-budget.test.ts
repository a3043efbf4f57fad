import { type ClientHttp2Stream, connect } from "node:http2";
import { describe, expect, it } from "vitest";
import { messageWithText, requestOf } from "./protobuf-bytes.ts";
import { serveTarget } from "./target.ts";
import { encodeBytes, type Wire, wires, wrapParams } from "./wires.ts";

const kibibyte = 1_024;
const limit = 1_024 * kibibyte;
const target = serveTarget({ maxTotalBodyBytes: limit });

function messageOf(wire: Wire, length: number): Uint8Array {
  const text = new TextEncoder().encode("x".repeat(length));
  if (wire.codec === "proto") return requestOf(messageWithText(text));
  const json = `{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"${"x".repeat(length)}"}]}}`;
  return Buffer.from(wire.protocol === "jsonrpc" ? wrapParams({ method: "SendMessage", json }) : json);
}

/** Sends a part of a body, and returns when the server has it. */
async function beginBody(stream: ClientHttp2Stream, bytes: number): Promise<void> {
  await new Promise<void>((resolve) => stream.write(Buffer.alloc(bytes, "x"), () => resolve()));
  await new Promise<void>((resolve) => stream.session?.ping(() => resolve())); // answered after all that came before
}

for (const wire of wires) {
  describe(`a server whose memory for bodies is full, over ${wire.name}`, () => {
    it("refuses the largest body, and takes small ones", async () => {
      const session = connect(target.url);
      session.on("error", () => undefined);
      const unfinished = ["a", "b"].map(() =>
        session.request({
          ":method": "POST",
          ":path": "/rest/message:send",
          "content-type": "application/json",
        }),
      );
      let answered = 0;
      for (const stream of unfinished) {
        stream
          .on("error", () => undefined)
          .on("response", () => {
            answered += 1;
          });
        await beginBody(stream, 300 * kibibyte);
      }
      // It is the largest when there is no room for more of it; afterwards a small call is answered.
      const refusal = await target.refuses(wire, encodeBytes(wire, messageOf(wire, 900 * kibibyte)), {
        error: "capacity",
      });
      expect(refusal.metadata["maxBytes"]).toBe(String(limit));
      await new Promise<void>((resolve) => session.ping(() => resolve()));
      expect(answered).toBe(0);
      session.destroy();
    });
  });
}
