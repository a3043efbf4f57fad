import { writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, utimes, writeFile } from "node:fs/promises";
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

/** A second passes each time that the clock is read. */
function createClock(onTick: (ms: number) => unknown = () => {}) {
  let ms = 0;
  return {
    now: () => {
      ms += 1_000;
      onTick(ms);
      return ms;
    },
    passed: () => ms,
  };
}

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

  for (const [when, offsetMs] of [
    ["long ago", -60_000],
    ["by a clock that is ahead", 60 * 60 * 1_000],
  ] as const) {
    it(`takes over after 10 s from whoever was stopped inside ${when}`, async () => {
      for (const holder of ["", "somebody"]) {
        await writeFile(lock, holder);
        await utimes(lock, new Date(), new Date(Date.now() + offsetMs));
        const { now, passed } = createClock();
        {
          await using _ = await holdFileLock(lock, { now });
          expect(await readFile(lock, "utf8")).not.toBe(holder);
          expect(passed()).toBeGreaterThan(10_000);
        }
        expect(await readdir(root)).toEqual([]);
      }
    });
  }

  it("does not take over while others come and go", async () => {
    await writeFile(lock, "0");
    const { now, passed } = createClock((ms) => writeFileSync(lock, `${ms}`));
    await expect(holdFileLock(lock, { now, waitMs: 30_000 })).rejects.toThrow("is held by another process");
    expect(passed()).toBeGreaterThan(30_000);
  });

  it("says at once that a directory is no lock, and leaves it there", async () => {
    await mkdir(lock);
    await expect(holdFileLock(lock)).rejects.toThrow("EISDIR");
    expect(await readdir(root)).toEqual(["lock"]);
  });

  it("gives up when somebody stays inside", async () => {
    await writeFile(lock, "somebody");
    await expect(holdFileLock(lock, { waitMs: 0 })).rejects.toThrow(
      `the lock ${lock} is held by another process`,
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
