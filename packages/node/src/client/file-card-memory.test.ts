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

const card = (outline = "{}"): RememberedCard => ({
  thumbprints: ["k"],
  outline,
  digest: "d",
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
    const since = "2030-01-02T00:00:00.000Z";
    const remembered = { ...card(), newKeys: { k2: since }, missingKeys: { k: since } };
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

  it("is for its owner alone, also when it was not", {
    skip: process.platform === "win32",
    meta: { skipReason: "Windows has no file modes" },
  }, async () => {
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

  it("takes a file that is empty for a new one, and writes to it", async () => {
    file = join(root, "cards.json");
    await writeFile(file, "");
    const memory = createFileCardMemory(file);
    expect(await memory.read("a")).toBeUndefined();
    await memory.write("a", card());
    expect(await memory.read("a")).toEqual(card());
  });

  for (const [what, text] of [
    ["cut short", '{"version":1,"cards":{"a"'],
    ["of another kind", "[]"],
    ["of another version", '{"version":2,"cards":{}}'],
    ["without cards", '{"version":1,"cards":[]}'],
    ["with half a card", '{"version":1,"cards":{"a":{"thumbprints":["k"],"outline":"{}","digest":"d"}}}'],
    [
      "with keys that are none",
      '{"version":1,"cards":{"a":{"thumbprints":[1],"outline":"{}","digest":"d","firstSeen":"","lastSeen":""}}}',
    ],
    ...["newKeys", "missingKeys"].map(
      (member) =>
        [
          `with ${member} that are none`,
          `{"version":1,"cards":{"a":{"thumbprints":[],"${member}":{"k":1},"digest":"d","firstSeen":"","lastSeen":""}}}`,
        ] as const,
    ),
    [
      "with an outline that is none",
      '{"version":1,"cards":{"a":{"thumbprints":[],"outline":{},"digest":"d","firstSeen":"","lastSeen":""}}}',
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

  it("keeps ten thousand agents, and forgets the one that was not written for the longest time", async () => {
    const others = Array.from({ length: 9_998 }, (_, index) => [`agent${index}`, card()]);
    const cards = Object.fromEntries([["a", card()], ["b", card()], ...others]);
    const memory = createFileCardMemory(file);
    await memory.write("a", card());
    await writeFile(file, JSON.stringify({ version: 1, cards }));
    for (const key of ["a", "c"]) await memory.write(key, card());
    expect([await memory.read("a"), await memory.read("b"), await memory.read("c")]).toEqual([
      card(),
      undefined,
      card(),
    ]);
  });

  it("leaves out what cards declare when that gets too much, of those not written for the longest time, and keeps the keys", async () => {
    const { outline: _, ...bare } = card();
    const declaring = (mebis: number) => card("x".repeat(mebis * 1024 * 1024));
    const memory = createFileCardMemory(file);
    await memory.write("a", declaring(5));
    await memory.write("b", declaring(3));
    await memory.write("c", declaring(4));
    await memory.write("d", declaring(9));
    const known = await Promise.all(["a", "b", "c", "d"].map((key) => memory.read(key)));
    expect(known).toEqual([bare, declaring(3), declaring(4), bare]);
  });

  it("keeps 8 Mi units of what cards declare", async () => {
    const half = "x".repeat(4 * 1024 * 1024);
    const memory = createFileCardMemory(file);
    await memory.write("a", card(half));
    await memory.write("b", card(half));
    expect((await memory.read("a"))?.outline).toHaveLength(half.length);
    await memory.write("c", card("x"));
    expect((await memory.read("a"))?.outline).toBeUndefined();
    expect((await memory.read("b"))?.outline).toHaveLength(half.length);
  });

  it("writes nothing when something else is there than was expected", async () => {
    const [memory, other] = [createFileCardMemory(file), createFileCardMemory(file)];
    expect(await memory.write("a", card("1"), card("0"))).toBe(false);
    expect(await memory.write("a", card("1"), null)).toBe(true);
    expect(await other.write("a", card("2"), null)).toBe(false);
    const read = await memory.read("a");
    expect(await other.write("a", card("2"), read)).toBe(true);
    expect(await memory.write("a", card("3"), read)).toBe(false);
    expect(await memory.read("a")).toEqual(card("2"));
    expect(await memory.write("b", card("3"), null)).toBe(true);
  });

  it("lets one of many processes be the first, and loses nothing of the others", async () => {
    const racer = (name: string) => `
      import { createFileCardMemory } from ${JSON.stringify(import.meta.resolve("./file-card-memory.ts"))};
      const memory = createFileCardMemory(${JSON.stringify(file)});
      const card = { thumbprints: [${JSON.stringify(name)}], digest: "d", firstSeen: "", lastSeen: "" };
      let first = 0;
      for (let n = 0; n < 20; n++) {
        first += Number(await memory.write("shared " + n, card, null));
        await memory.write(${JSON.stringify(name)} + n, card);
      }
      console.log(first);`;
    const run = async (name: string) =>
      Number(
        (await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", racer(name)])).stdout,
      );
    const names = ["one", "two", "three"];
    const firsts = await Promise.all(names.map(run));
    expect(firsts.reduce((sum, each) => sum + each)).toBe(20);
    const { cards } = JSON.parse(await readFile(file, "utf8"));
    expect(Object.keys(cards)).toHaveLength(20 + 3 * 20);
  });

  it("is read whole while other processes write it", async () => {
    const memory = createFileCardMemory(file);
    await memory.write("shared", card("0".repeat(200_000)));
    const writer = `
      import { createFileCardMemory } from ${JSON.stringify(import.meta.resolve("./file-card-memory.ts"))};
      const memory = createFileCardMemory(${JSON.stringify(file)});
      for (let n = 0; n < 40; n++) {
        const outline = String(n % 10).repeat(200_000);
        await memory.write("shared", { thumbprints: [], outline, digest: "", firstSeen: "", lastSeen: "" });
      }`;
    const run = () => promisify(execFile)(process.execPath, ["--input-type=module", "--eval", writer]);
    let running = 2;
    const writers = [run(), run()].map((done) => done.finally(() => running--));
    let reads = 0;
    for (; running > 0; reads++) {
      const outline = (await memory.read("shared"))?.outline ?? "";
      expect(outline).toBe((outline[0] ?? "?").repeat(200_000));
    }
    await Promise.all(writers);
    expect(reads).toBeGreaterThan(10);
    expect((await memory.read("shared"))?.outline).toBe("9".repeat(200_000));
    expect(await readdir(join(root, "new", "folder"))).toEqual(["cards.json"]);
  });
});
