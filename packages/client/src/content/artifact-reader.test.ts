import { bytes, fileUrl, json, text } from "@a2a-connect/core";
import { type Artifact, ArtifactSchema, type Part } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, it } from "vitest";
import { startHttpServer } from "../../test-support/http-server.ts";
import type { ClientClock } from "../clock.ts";
import {
  ContentTooLargeError,
  InvalidResponseError,
  UnreachableError,
  UntrustedOutputError,
} from "../errors.ts";
import type { SaveFile } from "../platform.ts";
import { createArtifactReader } from "./artifact-reader.ts";

describe("an artifact", () => {
  it("is read as text, from all its text parts", () => {
    const reader = read([text("one, "), json(1), text("two")]);
    expect(reader.text()).toBe("one, two");
    expect([reader.id, reader.name, reader.parts.length]).toEqual(["a1", "report", 3]);
  });

  it("is read as JSON, from its first data part or else its text", () => {
    expect(read([text("words"), json({ a: [1, null] }), json(2)]).json()).toEqual({ a: [1, null] });
    expect(read([text('{"a":'), text("1}")]).json()).toEqual({ a: 1 });
    expect(read([json(null)]).json()).toBeNull();
  });

  for (const [what, parts] of [
    ["has neither data nor text", [bytes(Uint8Array.of(1))]],
    ["is not JSON", [text("words")]],
  ] as const) {
    it(`says so when it ${what}`, async () => {
      expect(() => read(parts).json()).toThrow(new InvalidResponseError(`artifact "report" ${what}`));
      await expect(read(parts).json(positive)).rejects.toThrow(InvalidResponseError);
    });
  }

  it("is validated, and what the schema makes of it is given", async () => {
    expect(await read([json(2)]).json(positive)).toBe("2");
    const refused = read([json(-2)]).json(positive);
    await expect(refused).rejects.toThrow(UntrustedOutputError);
    await expect(refused).rejects.toMatchObject({
      message: 'artifact "report" does not fit the schema: amounts.0: must be positive',
      issues: [{ message: "must be positive" }],
    });
  });

  it("is read as bytes, from its raw parts or else its text", () => {
    expect(read([text("a"), bytes(Uint8Array.of(1)), bytes(Uint8Array.of(2, 3))]).bytes()).toEqual(
      Uint8Array.of(1, 2, 3),
    );
    expect(read([text("é")]).bytes()).toEqual(Uint8Array.of(0xc3, 0xa9));
  });
});

describe("ArtifactReader.save", () => {
  it("writes each part under its own name or its artifact's", async () => {
    const files = createFiles();
    const png = { filename: "../a.png", mediaType: "image/png" };
    const paths = await read([text("hi"), json({ a: 1 }), bytes(Uint8Array.of(1), png)], files).save("/out");
    expect(paths).toEqual(["/out|report.txt", "/out|report.json", "/out|../a.png"]);
    expect(files.written).toEqual(["hi", '{\n  "a": 1\n}\n', "\x01"]);
  });

  it("puts the chunks of one file together", async () => {
    const files = createFiles();
    const named = { filename: "a.bin" };
    const parts = [
      text("one "),
      text("two"),
      text("three", { mediaType: "text/markdown" }),
      bytes(Uint8Array.of(65), named),
      bytes(Uint8Array.of(66), named),
      bytes(Uint8Array.of(67)),
      bytes(Uint8Array.of(68)),
    ];
    await read(parts, files).save("/out");
    expect(files.written).toEqual(["one two", "three", "AB", "C", "D"]);
  });

  it("fetches what is at a URL, up to the limit", async () => {
    await using server = await serveFile();
    const files = createFiles();
    const part = fileUrl(`${server.url}/ok`, { filename: "a.txt" });
    expect(await read([part], files).save("/out")).toEqual(["/out|a.txt"]);
    expect(files.written).toEqual(["content"]);
    await expect(read([part], files, 3).save("/out")).rejects.toThrow(ContentTooLargeError);
    for (const path of ["/missing", "/cut"]) {
      await expect(read([fileUrl(server.url + path)], files).save("/out"), path).rejects.toThrow(
        UnreachableError,
      );
    }
  });

  for (const path of ["/silent", "/half"]) {
    it(`gives a host up that falls silent (${path})`, async () => {
      await using server = await serveFile();
      const saving = read([fileUrl(server.url + path)], createFiles(), 1024, 50).save("/out");
      await expect(saving).rejects.toThrow(UnreachableError);
      await expect(saving).rejects.toThrow(/its host was silent for 50 ms/);
      await server.left; // the connection is not kept
    });

    it(`ends with the caller's signal (${path})`, async () => {
      await using server = await serveFile();
      const ended = new AbortController();
      const reader = read([fileUrl(server.url + path)], createFiles());
      const saving = reader.save("/out", { signal: ended.signal });
      await server.asked;
      ended.abort(new Error("enough"));
      await expect(saving).rejects.toThrow("enough");
      await server.left;
      await expect(reader.save("/out", { signal: ended.signal })).rejects.toThrow("enough");
    });
  }

  it("does not take the time of who writes for silence of who sends", async () => {
    await using server = await serveFile();
    const files = createFiles();
    let now = 0;
    const sleeps: (() => void)[] = [];
    const clock: ClientClock = {
      now: () => now,
      random: () => 0,
      sleep: () => new Promise((resolve) => sleeps.push(resolve)),
    };
    const slow: SaveFile = (directory, name, content) => {
      now += 3_600_000;
      for (const wake of sleeps.splice(0)) wake();
      return files.saveFile(directory, name, content);
    };
    const artifact = create(ArtifactSchema, { parts: [fileUrl(`${server.url}/ok`)] });
    await createArtifactReader(artifact, {
      maxBytes: 1024,
      filesOfTask: new Map(),
      saveFile: slow,
      clock,
    }).save("/out");
    expect(files.written).toEqual(["content"]);
  });

  for (const url of ["file:///etc/passwd", "data:text/plain,hello", "ftp://a.example/x", "nonsense"]) {
    it(`does not fetch ${url}`, async () => {
      await expect(read([fileUrl(url)], createFiles()).save("/out")).rejects.toThrow(UntrustedOutputError);
    });
  }

  it("says what to do where there are no files", async () => {
    await expect(read([text("hi")]).save("/out")).rejects.toThrow("@a2a-connect/node/client");
  });
});

interface Files {
  readonly saveFile: SaveFile;
  readonly written: string[];
}

function createFiles(): Files {
  const written: string[] = [];
  return {
    written,
    saveFile: async (directory, name, content) => {
      let all = "";
      for await (const chunk of content instanceof Uint8Array ? [content] : content) {
        all += new TextDecoder().decode(chunk);
      }
      written.push(all);
      return `${directory}|${name}`;
    },
  };
}

function read(parts: readonly Part[], files?: Files, maxBytes = 1024, idleTimeoutMs = 10_000) {
  const artifact: Artifact = create(ArtifactSchema, { artifactId: "a1", name: "report", parts: [...parts] });
  return createArtifactReader(artifact, {
    maxBytes,
    idleTimeoutMs,
    filesOfTask: new Map(),
    saveFile: files?.saveFile,
  });
}

/** A number above zero, given as text. */
const positive: StandardSchemaV1<number, string> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof value === "number" && value > 0
        ? { value: String(value) }
        : { issues: [{ message: "must be positive", path: ["amounts", { key: 0 }] }] },
  },
};

async function serveFile() {
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const server = await startHttpServer(({ url }, response) => {
    response.on("close", () => left.resolve());
    asked.resolve();
    if (url === "/silent") return;
    if (url === "/half") response.write("half");
    else if (url === "/ok") response.end("content");
    else if (url === "/cut")
      response.writeHead(200, { "content-length": 9 }).write("con", () => response.destroy());
    else response.writeHead(404).end("nothing");
  });
  return { ...server, asked: asked.promise, left: left.promise };
}
