import { mkdtemp, readdir, readFile, realpath, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { holdFileLock } from "./file-lock.ts";

let root = "";
let lock = "";
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "a2a-lock-")));
  lock = join(root, "lock");
});
afterEach(() => rm(root, { recursive: true }));

describe("holdFileLock", () => {
  it("lets one in at a time, and leaves nothing behind", async () => {
    let inside = 0;
    const enter = async (name: number): Promise<number> => {
      await using _ = await holdFileLock(lock);
      inside += 1;
      expect(inside).toBe(1);
      await readFile(lock);
      expect(inside).toBe(1);
      inside -= 1;
      return name;
    };
    const names = Array.from({ length: 20 }, (_, index) => index);
    expect(await Promise.all(names.map(enter))).toEqual(names);
    expect(await readdir(root)).toEqual([]);
  });

  it("takes over from whoever was stopped inside", async () => {
    await writeFile(lock, "");
    await utimes(lock, new Date(), new Date(Date.now() - 60_000));
    {
      await using _ = await holdFileLock(lock, { waitMs: 0 });
      expect(await readFile(lock, "utf8")).not.toBe("");
    }
    expect(await readdir(root)).toEqual([]);
  });

  it("gives up when somebody stays inside", async () => {
    await writeFile(lock, "somebody");
    await expect(holdFileLock(lock, { waitMs: 0 })).rejects.toThrow(
      `the lock ${lock} is held by somebody else`,
    );
    expect(await readFile(lock, "utf8")).toBe("somebody");
    expect(await readdir(root)).toEqual(["lock"]);
  });

  it("cannot be had where there is no directory", async () => {
    await expect(holdFileLock(join(root, "nowhere", "lock"))).rejects.toThrow("ENOENT");
  });

  it("does not touch the lock of whoever took over", async () => {
    {
      await using _ = await holdFileLock(lock);
      await rm(lock);
      await writeFile(lock, "somebody else");
    }
    expect(await readFile(lock, "utf8")).toBe("somebody else");
  });
});
