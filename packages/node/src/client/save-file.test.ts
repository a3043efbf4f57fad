import { mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { saveFile } from "./save-file.ts";

let root = "";
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "a2a-save-")));
});
afterEach(() => rm(root, { recursive: true }));

describe("saveFile", () => {
  it("writes bytes and streams, and says where", async () => {
    expect(await saveFile(root, "a.txt", utf8("one"))).toBe(join(root, "a.txt"));
    expect(await saveFile(join(root, "new/folder"), "b.txt", chunks("t", "wo"))).toBe(
      join(root, "new/folder/b.txt"),
    );
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("one");
    expect(await readFile(join(root, "new/folder/b.txt"), "utf8")).toBe("two");
    expect(await readdir(join(root, "new/folder"))).toEqual(["b.txt"]);
  });

  for (const name of ["../escaped.txt", "/etc/escaped.txt", "..\\escaped.txt", "a/../../escaped.txt"]) {
    it(`stays in the directory for ${name}`, async () => {
      const inside = join(root, "inside");
      expect(await saveFile(inside, name, utf8("x"))).toBe(join(inside, "escaped.txt"));
      expect(await readdir(root)).toEqual(["inside"]);
    });
  }

  it("adds a number in place of writing over a file", async () => {
    await writeFile(join(root, "a.txt"), "mine");
    const paths = [await saveFile(root, "a.txt", utf8("1")), await saveFile(root, "a.txt", utf8("2"))];
    expect(paths).toEqual([join(root, "a-2.txt"), join(root, "a-3.txt")]);
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("mine");
  });

  it("writes no file that a2a would take for settings", async () => {
    for (const name of ["x/a2a.config.yaml", ".env"]) await saveFile(root, name, utf8("x"));
    expect((await readdir(root)).toSorted()).toEqual(["_a2a.config.yaml", "env"]);
  });

  it("writes through no link, also one that leads nowhere", async () => {
    const outside = join(root, "outside.txt");
    await symlink(outside, join(root, "a.txt"));
    expect(await saveFile(root, "a.txt", utf8("x"))).toBe(join(root, "a-2.txt"));
    expect(await readdir(root)).toEqual(["a-2.txt", "a.txt"]);
  });

  it("gives many writers of one name a file each", async () => {
    const paths = await Promise.all(
      Array.from({ length: 20 }, (_, index) => saveFile(root, "a", utf8(String(index)))),
    );
    expect(new Set(paths).size).toBe(20);
    const contents = await Promise.all(paths.map((path) => readFile(path, "utf8")));
    expect(contents).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
  });

  it("leaves nothing behind when the content breaks off", async () => {
    async function* broken() {
      yield utf8("half");
      throw new Error("over the limit");
    }
    await expect(saveFile(root, "a.txt", broken())).rejects.toThrow("over the limit");
    expect(await readdir(root)).toEqual([]);
  });
});

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array, void> {
  for (const text of texts) yield utf8(text);
}
