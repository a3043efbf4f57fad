import { PartSchema, Role } from "@a2a-connect/proto";
import { toJson } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { agentMessage, bytes, fileUrl, json, partText, text, userMessage } from "./parts.ts";

describe("part builders", () => {
  for (const [name, part, want] of [
    ["text", text("a"), { text: "a" }],
    ["empty text", text(""), { text: "" }],
    ["json", json({ a: [1, null] }), { data: { a: [1, null] } }],
    ["json null", json(null), { data: null }],
    [
      "bytes",
      bytes(new Uint8Array([1, 2]), { mediaType: "image/png", filename: "a.png" }),
      { raw: "AQI=", mediaType: "image/png", filename: "a.png" },
    ],
    [
      "url",
      fileUrl("https://example.com/a", { metadata: { a: 1 } }),
      { url: "https://example.com/a", metadata: { a: 1 } },
    ],
  ] as const) {
    it(`builds a part of ${name}`, () => expect(toJson(PartSchema, part)).toEqual(want));
  }
});

describe("message builders", () => {
  it("builds an agent's message from text", () => {
    expect(agentMessage("hi", { messageId: "m", contextId: "c" })).toMatchObject({
      role: Role.AGENT,
      messageId: "m",
      contextId: "c",
      parts: [{ content: { case: "text", value: "hi" } }],
    });
  });

  it("builds a user's message from parts, leaving the caller's list alone", () => {
    const parts = Object.freeze([text("a"), json(1)]);
    const message = userMessage(parts, { messageId: "m" });
    expect(message.role).toBe(Role.USER);
    expect(message.parts).toEqual(parts);
    expect(message.parts).not.toBe(parts);
  });
});

describe("partText", () => {
  it("joins text parts and skips the others", () => {
    expect(partText({ parts: [text("a"), json("x"), text("b")] })).toBe("ab");
    expect(partText({ parts: [json("x")] })).toBe("");
  });
});
