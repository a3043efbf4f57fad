import { gzipSync } from "node:zlib";
import { bytes, json, text } from "@a2a-connect/core";
import { AgentCardSchema, type Part } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, it } from "vitest";
import { UntrustedOutputError } from "../errors.ts";
import type { Inspect } from "../options.ts";
import { all, approval, declaredMediaType, maxPartBytes, partSchema } from "./inspectors.ts";

const latin = (content: string) => Uint8Array.from(content, (character) => character.charCodeAt(0));

const png = latin(
  "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\b\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\0IEND\xaeB`\x82",
);
const jpeg = latin("\xff\xd8\xff\xe0\0\x10JFIF\0\x01");
const pdf = latin("%PDF-1.7\n%\xe2\xe3\n");
const executable = latin(`MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff${"\0".repeat(100)}`);
const elf = latin(`\x7fELF\x02\x01\x01${"\0".repeat(60)}`);
const zip = latin(`PK\x03\x04\x14\0\0\0\0\0${"\0".repeat(40)}`);
const html = latin("  <!-- hello -->\n<!DOCTYPE html><script>alert(1)</script>");
const svg = latin('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
const words = latin("Dear reader,\n");

describe("declaredMediaType", () => {
  for (const [what, content, mediaType] of [
    ["a web page as an image", html, "image/png"],
    ["a web page as text", html, "text/plain"],
    ["a web page as JSON", html, "application/json"],
    ["a page behind an endless comment", latin("<!-- "), "text/plain"],
    ["an SVG as a PNG", svg, "image/png"],
    ["a PE executable as an image", executable, "image/png"],
    ["a PE executable as text", executable, "text/plain; charset=utf-8"],
    ["an ELF executable as an image", elf, "image/jpeg"],
    ["an ELF executable as text", elf, "text/plain"],
    ["a zip as an image", zip, "image/png"],
    ["a zip as text", zip, "text/csv"],
    ["a zip as JSON", zip, "application/json"],
    ["a gzip as text", gzipSync("hi"), "text/plain"],
    ["a JPEG as a PNG", jpeg, "image/png"],
    ["words as a PDF", words, "application/pdf"],
    ["words as a video", words, "video/mp4"],
    ["unknown bytes as text", latin("abc\0def"), "text/plain"],
    ["anything as nonsense", words, "nonsense"],
  ] as const) {
    it(`refuses ${what}`, async () => {
      await expect(inspect(declaredMediaType(), bytes(content, { mediaType }))).rejects.toThrow(
        UntrustedOutputError,
      );
    });
  }

  for (const [what, content, mediaType] of [
    ["a PNG", png, "image/png"],
    ["a JPEG by its other name", jpeg, "image/jpg"],
    ["a PDF", pdf, "application/pdf"],
    ["an executable that says so", executable, "application/x-msdownload"],
    ["anything that claims nothing", executable, "application/octet-stream"],
    ["anything undeclared", elf, ""],
    ["words", words, "text/plain"],
    ["nothing", new Uint8Array(), "text/plain"],
    ["UTF-16", latin("\xff\xfea\0b\0"), "text/plain"],
    ["Markdown", latin("<div>\n\n# Title"), "text/markdown"],
    ["a page", html, "text/html"],
    ["an SVG", svg, "image/svg+xml"],
    ["JSON", latin('{"a":1}'), "application/json"],
    ["XML", latin('<?xml version="1.0"?><a/>'), "text/xml"],
    [
      "an office document in its zip",
      zip,
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ],
    ["a type without marks", words, "application/x-ours"],
  ] as const) {
    it(`takes ${what}`, async () => {
      await inspect(declaredMediaType(), bytes(content, { mediaType }));
    });
  }

  it("says what the bytes are", async () => {
    const part = bytes(elf, { mediaType: "image/png", filename: "cat.png" });
    await expect(inspect(declaredMediaType(), part)).rejects.toThrow(
      'the bytes of part "cat.png" declare image/png and are application/x-elf',
    );
  });

  it("takes no longer for a crafted beginning", async () => {
    await inspect(
      declaredMediaType(),
      bytes(latin("<!---->".repeat(10_000)), { mediaType: "text/plain" }),
    ).catch(() => {});
  });
});

describe("maxPartBytes", () => {
  for (const [what, part, size] of [
    ["bytes", bytes(png), png.byteLength],
    ["text in UTF-8", text("日本"), 6],
    ["data as JSON", json({ a: 1 }), 7],
  ] as const) {
    it(`counts ${what}`, async () => {
      await inspect(maxPartBytes(size), part);
      await expect(inspect(maxPartBytes(size - 1), part)).rejects.toThrow(`limit of ${size - 1} bytes`);
    });
  }
});

describe("partSchema", () => {
  it("refuses data that does not fit, with the issues", async () => {
    const inspector = partSchema(aNumber);
    await inspect(inspector, json(1));
    await inspect(inspector, text("words are no data"));
    await expect(inspect(inspector, json("one"))).rejects.toMatchObject({
      issues: [{ message: "no number" }],
    });
  });

  it("is for one media type when it is told so", async () => {
    const inspector = partSchema(aNumber, { mediaType: "application/vnd.number+json" });
    await inspect(inspector, json("one"));
    const number = json("one", { mediaType: "application/vnd.number+json" });
    await expect(inspect(inspector, number)).rejects.toThrow("a part does not fit the schema: no number");
  });
});

describe("approval", () => {
  it("refuses what nobody agrees to", async () => {
    const asked: string[] = [];
    const inspector = approval(async ({ kind }) => {
      asked.push(kind);
      return kind === "card";
    });
    await inspector({ kind: "card", card: create(AgentCardSchema) });
    await expect(inspect(inspector, text("hi"))).rejects.toThrow("the part was not approved");
    expect(asked).toEqual(["card", "part"]);
  });
});

describe("all", () => {
  it("refuses what any of them refuses, and asks none after that", async () => {
    let asked = 0;
    const inspector = all(maxPartBytes(3), () => {
      asked += 1;
    });
    await inspect(inspector, text("abc"));
    await expect(inspect(inspector, text("abcd"))).rejects.toThrow(UntrustedOutputError);
    expect(asked).toBe(1);
  });
});

async function inspect(inspector: Inspect, part: Part): Promise<void> {
  await inspector({ kind: "part", part, of: "artifact" });
}

const aNumber: StandardSchemaV1<number> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => (typeof value === "number" ? { value } : { issues: [{ message: "no number" }] }),
  },
};
