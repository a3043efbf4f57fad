import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { RememberedCard } from "@a2a-connect/signing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFileCardMemory } from "./file-card-memory.ts";

let root = "";
let file = "";
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "a2a-memory-")));
  file = join(root, "new", "folder", "cards.json");
});
afterEach(() => rm(root, { recursive: true }));

const card = (canonical = "{}"): RememberedCard => ({
  thumbprints: ["k"],
  canonical,
  firstSeen: "2030-01-01T00:00:00.000Z",
  lastSeen: "2030-01-02T00:00:00.000Z",
});

describe("createFileCardMemory", () => {
  it("knows nobody and makes no file before there is something to remember", async () => {
    const memory = createFileCardMemory(file);
    expect(await memory.read("https://a.example")).toBeUndefined();
    await memory.forget("https://a.example");
    expect(await readdir(root)).toEqual([]);
  });

  it("remembers beyond its own end, until it forgets", async () => {
    const remembered = { ...card(), newKeys: { k2: "2030-01-02T00:00:00.000Z" } };
    await createFileCardMemory(file).write("https://a.example", remembered);
    await createFileCardMemory(file).write("__proto__", card("1"));
    const memory = createFileCardMemory(file);
    expect(await memory.read("https://a.example")).toEqual(remembered);
    expect(await memory.read("__proto__")).toEqual(card("1"));
    expect(await memory.read("constructor")).toBeUndefined();
    await memory.forget("https://a.example");
    expect(await createFileCardMemory(file).read("https://a.example")).toBeUndefined();
    expect(await createFileCardMemory(file).read("__proto__")).toEqual(card("1"));
  });

  it.skipIf(process.platform === "win32")("is for its owner alone, also when it was not", async () => {
    const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    const memory = createFileCardMemory(file);
    await memory.write("a", card());
    expect([await mode(file), await mode(join(root, "new", "folder"))]).toEqual(["600", "700"]);
    await chmod(file, 0o666);
    await memory.write("a", card());
    expect(await mode(file)).toBe("600");
  });

  it("leaves nothing else behind", async () => {
    const memory = createFileCardMemory(file);
    await memory.write("a", card());
    await memory.forget("a");
    expect(await readdir(join(root, "new", "folder"))).toEqual(["cards.json"]);
    const blocked = join(root, "blocked");
    await mkdir(join(blocked, "cards.json", "x"), { recursive: true });
    await expect(createFileCardMemory(join(blocked, "cards.json")).write("a", card())).rejects.toThrow(
      `the card memory ${join(blocked, "cards.json")} cannot be read`,
    );
    await writeFile(join(blocked, "file"), "");
    const below = join(blocked, "file", "cards.json");
    await expect(createFileCardMemory(below).write("a", card())).rejects.toThrow(
      `the card memory ${below} cannot`,
    );
    expect((await readdir(blocked)).sort()).toEqual(["cards.json", "file"]);
  });

  it("loses nothing that is written at the same time", async () => {
    const memory = createFileCardMemory(file);
    const keys = Array.from({ length: 20 }, (_, index) => `https://${index}.example`);
    await Promise.all(keys.map((key) => memory.write(key, card(key))));
    expect(await Promise.all(keys.map((key) => memory.read(key)))).toEqual(keys.map((key) => card(key)));
  });

  for (const [what, text] of [
    ["cut short", '{"version":1,"cards":{"a"'],
    ["empty", ""],
    ["of another kind", "[]"],
    ["of another version", '{"version":2,"cards":{}}'],
    ["without cards", '{"version":1,"cards":[]}'],
    ["with half a card", '{"version":1,"cards":{"a":{"thumbprints":["k"],"canonical":"{}"}}}'],
    [
      "with keys that are none",
      '{"version":1,"cards":{"a":{"thumbprints":[1],"canonical":"{}","firstSeen":"","lastSeen":""}}}',
    ],
    [
      "with new keys that are none",
      '{"version":1,"cards":{"a":{"thumbprints":[],"newKeys":{"k":1},"canonical":"{}","firstSeen":"","lastSeen":""}}}',
    ],
  ] as const) {
    it(`names a file that is ${what}, and leaves it as it is`, async () => {
      file = join(root, "cards.json");
      await writeFile(file, text);
      const memory = createFileCardMemory(file);
      const message = `the card memory ${file} is damaged; restore it, or move it away to meet every agent for the first time again`;
      await expect(memory.read("a")).rejects.toThrow(message);
      await expect(memory.write("b", card())).rejects.toThrow(message);
      await expect(memory.forget("a")).rejects.toThrow(message);
      expect(await readFile(file, "utf8")).toBe(text);
      await rm(file);
      await memory.write("b", card());
      expect(await memory.read("b")).toEqual(card());
    });
  }

  it("forgets whoever was not written for the longest time", async () => {
    const memory = createFileCardMemory(file, { maxCards: 2 });
    for (const key of ["a", "b", "b"]) await memory.write(key, card());
    expect(await memory.read("a")).toEqual(card());
    for (const key of ["a", "c"]) await memory.write(key, card());
    expect([await memory.read("a"), await memory.read("b"), await memory.read("c")]).toEqual([
      card(),
      undefined,
      card(),
    ]);
  });

  it("forgets by the size of the cards, too, but never the last one", async () => {
    const memory = createFileCardMemory(file, { maxLength: 10 });
    await memory.write("a", card("aaaaaa"));
    await memory.write("b", card("bbbb"));
    expect(await memory.read("a")).toEqual(card("aaaaaa"));
    await memory.write("c", card("c".repeat(11)));
    expect(Object.keys(JSON.parse(await readFile(file, "utf8")).cards)).toEqual(["c"]);
  });

  it("wants limits that are some", () => {
    expect(() => createFileCardMemory(file, { maxCards: 0 })).toThrow(TypeError);
    expect(() => createFileCardMemory(file, { maxLength: Number.NaN })).toThrow(TypeError);
  });

  it("is read whole while other processes write it", async () => {
    const memory = createFileCardMemory(file);
    await memory.write("shared", card("0".repeat(200_000)));
    const writer = `
      import { createFileCardMemory } from ${JSON.stringify(import.meta.resolve("./file-card-memory.ts"))};
      const memory = createFileCardMemory(${JSON.stringify(file)});
      for (let n = 0; n < 40; n++) {
        const canonical = String(n % 10).repeat(200_000);
        await memory.write("shared", { thumbprints: [], canonical, firstSeen: "", lastSeen: "" });
      }`;
    const run = () => promisify(execFile)(process.execPath, ["--input-type=module", "--eval", writer]);
    let running = 2;
    const writers = [run(), run()].map((done) => done.finally(() => running--));
    let reads = 0;
    for (; running > 0; reads++) {
      const canonical = (await memory.read("shared"))?.canonical ?? "";
      expect(canonical).toBe((canonical[0] ?? "?").repeat(200_000));
    }
    await Promise.all(writers);
    expect(reads).toBeGreaterThan(10);
    expect((await memory.read("shared"))?.canonical).toBe("9".repeat(200_000));
    expect(await readdir(join(root, "new", "folder"))).toEqual(["cards.json"]);
  });
});
