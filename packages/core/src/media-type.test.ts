import { PartSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  effectiveMediaType,
  matchesMediaType,
  negotiateErrorMedia,
  negotiateJsonMedia,
  parseJsonMedia,
  parseMediaType,
} from "./media-type.ts";
import { bytes, fileUrl, json, text } from "./parts.ts";

const a2a = "application/a2a+json";
const plain = "application/json";

describe("parseMediaType", () => {
  for (const [value, want] of [
    ["text/plain", { type: "text", subtype: "plain" }],
    [" Text/PLAIN ; charset=utf-8", { type: "text", subtype: "plain" }],
    ["application/vnd.a+json", { type: "application", subtype: "vnd.a+json" }],
    ["*/*", { type: "*", subtype: "*" }],
    ["text", undefined],
    ["text/", undefined],
    ["text/plain/x", undefined],
    ["te xt/plain", undefined],
    ["", undefined],
    [`text/${"x".repeat(1_019)}`, { type: "text", subtype: "x".repeat(1_019) }],
    [`text/${"x".repeat(1_020)}`, undefined],
    [`text/plain;a=${"x".repeat(1_024)}`, undefined],
  ] as const) {
    it(`reads "${value.slice(0, 40)}" of ${value.length}`, () => expect(parseMediaType(value)).toEqual(want));
  }
});

describe("matchesMediaType", () => {
  for (const [range, mediaType, want] of [
    ["text/plain", "text/plain", true],
    ["text/plain", "TEXT/Plain; charset=utf-8", true],
    ["text/*", "text/markdown", true],
    ["*/*", "image/png", true],
    ["text/*", "application/json", false],
    ["text/plain", "text/html", false],
    ["*/*", "nonsense", false],
    ["nonsense", "nonsense", false],
  ] as const) {
    it(`${range} ${want ? "takes" : "refuses"} ${mediaType}`, () =>
      expect(matchesMediaType(range, mediaType)).toBe(want));
  }
});

describe("effectiveMediaType", () => {
  for (const [kind, part, want] of [
    ["text", text("a"), "text/plain"],
    ["data", json(null), "application/json"],
    ["raw", bytes(new Uint8Array()), "application/octet-stream"],
    ["url", fileUrl("https://example.com/a"), "application/octet-stream"],
    ["declared", text("a", { mediaType: "text/markdown" }), "text/markdown"],
    ["empty", create(PartSchema), "application/octet-stream"],
  ] as const) {
    it(`is ${want} for ${kind}`, () => expect(effectiveMediaType(part)).toBe(want));
  }
});

describe("parseJsonMedia", () => {
  for (const [value, want] of [
    ["application/json; charset=utf-8", plain],
    ["Application/A2A+JSON", a2a],
    ["text/json", undefined],
    ["application/problem+json", undefined],
    [undefined, undefined],
    [null, undefined],
  ] as const) {
    it(`reads ${value}`, () => expect(parseJsonMedia(value)).toBe(want));
  }
});

describe("negotiateErrorMedia", () => {
  for (const [contentType, accept, want] of [
    [undefined, undefined, a2a],
    [undefined, "*/*", a2a],
    [plain, "*/*", plain],
    [a2a, undefined, a2a],
    [undefined, "text/event-stream", plain],
    [a2a, "text/event-stream", plain],
    [undefined, "text/event-stream, */*", plain],
    [undefined, `text/event-stream, ${a2a}`, a2a],
    [a2a, `${plain}, ${a2a}`, plain],
    [plain, `${a2a}, ${plain}`, a2a],
    [plain, `${plain};q=0.5, ${a2a}`, a2a],
    [plain, `text/event-stream, ${plain}`, plain],
  ] as const) {
    it(`answers ${want} to body ${contentType}, Accept ${accept} (K-3)`, () => {
      expect(negotiateErrorMedia({ contentType, accept, fallback: a2a })).toBe(want);
    });
  }
});

describe("negotiateJsonMedia", () => {
  for (const [contentType, accept, fallback, want] of [
    [undefined, undefined, a2a, a2a],
    [undefined, undefined, plain, plain],
    [null, "*/*", plain, plain],
    [plain, "*/*", a2a, plain],
    [a2a, undefined, plain, a2a],
    [undefined, plain, a2a, plain],
    [undefined, a2a, plain, a2a],
    [plain, a2a, plain, a2a],
    [a2a, plain, a2a, plain],
    [undefined, `${a2a}, ${plain}`, plain, a2a],
    [plain, `${a2a}, ${plain}`, a2a, plain],
    [a2a, `${plain};q=0.9, ${a2a};q=0.1`, a2a, plain],
    [undefined, `${a2a};q=0, ${plain}`, a2a, plain],
    [undefined, `${a2a};q=0`, plain, plain],
    [undefined, "text/event-stream", a2a, a2a],
    ["text/plain", "text/html", plain, plain],
  ] as const) {
    it(`answers ${want} to body ${contentType}, Accept ${accept}, else ${fallback} (K-3)`, () => {
      expect(negotiateJsonMedia({ contentType, accept, fallback })).toBe(want);
    });
  }
});
