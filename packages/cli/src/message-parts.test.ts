import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { formatMessage } from "@a2a-connect/core/internal";
import { PartSchema } from "@a2a-connect/proto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PartSource, readParts } from "./message-parts.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "a2a-parts-"));
  await writeFile(join(directory, "note.md"), "# Hi");
  await writeFile(join(directory, "blob"), new Uint8Array([255, 0]));
  await writeFile(join(directory, "odd:name.txt"), "x");
  await writeFile(join(directory, "data.json"), '{"a": [null, 1e2]}');
  await writeFile(join(directory, "huge.bin"), "");
  await truncate(join(directory, "huge.bin"), 13 * 2 ** 20);
});

afterAll(() => rm(directory, { recursive: true }));

async function read(
  kind: PartSource["kind"],
  value: string,
  mediaType?: string,
  stdin = "",
): Promise<unknown> {
  const io = { cwd: directory, stdin: Readable.from([Buffer.from(stdin)]) };
  const [part] = await readParts([{ kind, value, mediaType }], io, new AbortController().signal);
  return part === undefined ? undefined : formatMessage(PartSchema, part);
}

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString("base64");

describe("readParts (A2ACLI_SEND_005, A2ACLI_SEND_006)", () => {
  it("takes a file's type from its name, and its own name along", async () => {
    expect(await read("file", "note.md")).toEqual({
      raw: base64("# Hi"),
      filename: "note.md",
      mediaType: "text/markdown",
    });
  });

  it("prefers the type that was said", async () => {
    expect(await read("file", "blob", "application/pdf")).toMatchObject({ mediaType: "application/pdf" });
    expect(await read("text", "# Hi", "text/markdown")).toEqual({ text: "# Hi", mediaType: "text/markdown" });
    expect(await read("data", "data.json", "application/vnd.x+json")).toMatchObject({
      mediaType: "application/vnd.x+json",
    });
  });

  it("reads files by path and by file: URL, whatever they are called", async () => {
    const blob = { raw: base64(new Uint8Array([255, 0])), filename: "blob" };
    expect(await read("file", join(directory, "blob"))).toMatchObject(blob);
    expect(await read("file", pathToFileURL(join(directory, "blob")).href)).toMatchObject(blob);
    expect(await read("file", "odd:name.txt")).toMatchObject({ raw: base64("x") });
  });

  it("leaves what is behind a URL to the agent", async () => {
    expect(await read("file", "https://example.com/a")).toEqual({ url: "https://example.com/a" });
    expect(await read("file", "s3://bucket/key", "text/csv")).toEqual({
      url: "s3://bucket/key",
      mediaType: "text/csv",
    });
  });

  it("takes the type of what is behind a URL from its path, not from its query", async () => {
    const url = "https://example.com/a.PDF?as=x.csv";
    expect(await read("file", url)).toEqual({ url, mediaType: "application/pdf" });
    expect(await read("file", "https://example.com/?as=x.csv")).not.toHaveProperty("mediaType");
    expect(await read("file", "https://example.com")).not.toHaveProperty("mediaType");
  });

  it("says which flag reads the standard input", async () => {
    await expect(read("file", "-")).rejects.toMatchObject({ hint: expect.stringContaining("--data -") });
  });

  it("reads data from a file and from the standard input", async () => {
    expect(await read("data", "data.json")).toEqual({ data: { a: [null, 100] } });
    expect(await read("data", "-", undefined, '"just a string"')).toEqual({ data: "just a string" });
  });

  for (const [what, [kind, value]] of [
    ["a file that is not there", ["file", "missing.txt"]],
    ["a directory", ["file", "."]],
    ["a file of more than 12 MiB", ["file", "huge.bin"]],
    ["a file: URL of another machine", ["file", "file://elsewhere/a%00"]],
    ["data that is not there", ["data", "missing.json"]],
    ["data that is no JSON", ["data", "note.md"]],
    ["an empty standard input", ["data", "-"]],
  ] as const) {
    it(`refuses ${what} as a usage error`, async () => {
      await expect(read(kind, value)).rejects.toMatchObject({ code: "A2ACLI_ERR_USAGE" });
    });
  }

  it("stops waiting for a standard input that stays open", async () => {
    const io = { cwd: directory, stdin: new Readable({ read: () => {} }) };
    const controller = new AbortController();
    const reason = new Error("Ctrl-C");
    const reading = readParts([{ kind: "data", value: "-", mediaType: undefined }], io, controller.signal);
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });

  it("says in words why a file cannot be read", async () => {
    await expect(read("file", "missing.txt")).rejects.toThrow(
      /missing\.txt cannot be read: there is no such file$/,
    );
  });
});
