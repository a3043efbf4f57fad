import { describe, expect, it } from "vitest";
import { ContentTooLargeError } from "../errors.ts";
import { file } from "./upload.ts";

const abc = new TextEncoder().encode("abc");

describe("file", () => {
  for (const [what, create] of [
    ["bytes", () => abc],
    ["a Blob", () => new Blob([abc])],
    ["a stream", () => new Blob([abc]).stream()],
    ["an async iterable", () => chunks(["a", "bc"])],
  ] as const) {
    it(`makes a part of ${what}`, async () => {
      const part = await file(create(), { name: "a.txt", mediaType: "text/plain" });
      expect(part).toMatchObject({
        filename: "a.txt",
        mediaType: "text/plain",
        content: { case: "raw", value: abc },
      });
    });

    it(`refuses ${what} over the limit`, async () => {
      await expect(file(create(), { name: "a.txt", maxBytes: 2 })).rejects.toThrow(
        new ContentTooLargeError('the file "a.txt"', 2),
      );
      expect((await file(create(), { maxBytes: 3 })).content.value).toEqual(abc);
    });
  }

  it("takes name and media type of a File", async () => {
    const part = await file(new File([abc], "b.csv", { type: "text/csv" }));
    expect(part).toMatchObject({ filename: "b.csv", mediaType: "text/csv" });
  });

  it("stops reading where the limit is passed, and lets go of the source", async () => {
    let given = 0;
    let released = false;
    async function* endless() {
      try {
        for (;;) {
          given += 1;
          yield new Uint8Array(10);
        }
      } finally {
        released = true;
      }
    }
    await expect(file(endless(), { maxBytes: 25 })).rejects.toThrow("limit of 25 bytes");
    expect([given, released]).toEqual([3, true]);
  });

  it("rejects with what the source throws", async () => {
    await expect(file(chunks(["a", new Error("disk on fire")]))).rejects.toThrow("disk on fire");
  });
});

async function* chunks(items: readonly (string | Error)[]): AsyncGenerator<Uint8Array, void> {
  for (const item of items) {
    if (item instanceof Error) throw item;
    yield new TextEncoder().encode(item);
  }
}
