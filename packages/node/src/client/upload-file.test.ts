import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ContentTooLargeError } from "@a2a-connect/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { uploadFile } from "./upload-file.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "a2a-upload-"));
});
afterEach(() => rm(root, { recursive: true }));

describe("uploadFile", () => {
  for (const [name, mediaType] of [
    ["notes.md", "text/markdown"],
    ["Photo.JPG", "image/jpeg"],
    ["table.csv", "text/csv"],
    ["unknown.qqq", "application/octet-stream"],
    ["Makefile", "application/octet-stream"],
  ] as const) {
    it(`sends ${name} as ${mediaType}`, async () => {
      const path = join(root, name);
      await writeFile(path, "content");
      expect(await uploadFile(path)).toMatchObject({
        filename: name,
        mediaType,
        content: { case: "raw", value: new TextEncoder().encode("content") },
      });
    });
  }

  it("takes another name and media type", async () => {
    const path = join(root, "a.txt");
    await writeFile(path, "");
    const part = await uploadFile(path, { name: "b", mediaType: "text/x-ours" });
    expect(part).toMatchObject({
      filename: "b",
      mediaType: "text/x-ours",
      content: { value: new Uint8Array() },
    });
  });

  it("refuses a file over the limit, also one whose size is not known before", async () => {
    const path = join(root, "a.txt");
    await writeFile(path, "12345");
    await expect(uploadFile(path, { maxBytes: 4 })).rejects.toThrow(ContentTooLargeError);
    await expect(uploadFile("/dev/zero", { maxBytes: 100_000 })).rejects.toThrow(ContentTooLargeError);
    expect((await uploadFile(path, { maxBytes: 5 })).content.value).toHaveLength(5);
  });

  it("rejects with the system's error when there is none", async () => {
    await expect(uploadFile(join(root, "none"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(uploadFile(root)).rejects.toMatchObject({ code: "EISDIR" });
  });
});
